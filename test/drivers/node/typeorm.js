const { DataSource, EntitySchema, In, MoreThanOrEqual, Raw } = require('typeorm');
const { given, row, since } = require('./row');

const Person = (sno, gid, mastic) => new EntitySchema({ name: 'person', columns: {
  id: { type: sno, primary: true, default: () => 'gen_sno()' },
  disk: { type: gid, default: () => "gen_gid('volume')" },
  post: { type: mastic, default: () => 'gen_mastic()' },
  number: { type: 'bigint', default: () => 'gen_mastic()' },
  name: { type: 'text', nullable: true },
} });
const { PGHOST: host, PGPORT, PGUSER: username, PGDATABASE: database } = process.env;
const connected = async (entity) => {
  const dataSource = new DataSource({ type: 'postgres', host, port: +PGPORT, username, database, entities: [entity] });
  dataSource.driver.supportedDataTypes.push('sno', 'gid', 'mastic'); // before initialize()
  return dataSource.initialize();
};
const changes = async (dataSource) => (await dataSource.driver.createSchemaBuilder().log()).upQueries.map((change) => change.query);

(async () => {
  const dataSource = await connected(Person('sno', 'gid', 'mastic'));
  const people = dataSource.getRepository('person');
  const person = await people.save({ name: 'ada' });
  await row(person, {
    write: { 'as is': async () => { await people.insert(given); return people.findBy({ name: given.name }); } },
    id: { 'as is': () => people.findBy({ id: person.id, disk: person.disk, post: person.post }) },
    list: { 'as is': () => people.findBy({ id: In([person.id]) }) },
    time: {
      'as is': () => people.findBy({ id: MoreThanOrEqual(since) }),
      '`Raw`': () => people.findBy({ id: Raw((id) => `${id} >= :since::timestamptz`, { since }) }),
    },
    diff: (await changes(dataSource)).length === 0 ? 'empty' : 'not empty',
  });
  await dataSource.destroy();

  // As text, synchronize would throw the ids away.
  const text = await connected(Person('text', 'text', 'text'));
  if (!(await changes(text)).includes('ALTER TABLE "person" DROP COLUMN "post"')) throw new Error('text is kept');
  await text.destroy();
})();
