const { EntitySchema, MikroORM, raw } = require('@mikro-orm/postgresql');
const { given, row, since } = require('./row');

const Person = new EntitySchema({ name: 'Person', tableName: 'person', properties: {
  id: { type: 'string', columnType: 'sno', primary: true, defaultRaw: 'gen_sno()' },
  disk: { type: 'string', columnType: 'gid', defaultRaw: "gen_gid('volume'::text)" },
  post: { type: 'string', columnType: 'mastic', defaultRaw: 'gen_mastic()' },
  number: { type: 'bigint', defaultRaw: 'gen_mastic()' },
  name: { type: 'text', nullable: true },
} });
const connected = (entity, schemaGenerator) => {
  const { PGHOST: host, PGPORT, PGUSER: user, PGDATABASE: dbName } = process.env;
  return MikroORM.init({ entities: [entity], host, port: +PGPORT, user, dbName, schemaGenerator });
};
Object.assign(exports, { Person, connected }); // for mikroorm_schema.js
if (require.main !== module) return;

(async () => {
  const orm = await connected(Person, { ignoreSchema: ['snowflake_ids', 'snowflake_ids_convert'] });
  const id = await orm.em.fork().insert(Person, { name: 'ada' });
  const people = (where) => orm.em.fork().find(Person, where);
  const [ada] = await people({ id });
  await row(ada, {
    write: { 'as is': async () => { await orm.em.fork().insert(Person, given); return people({ name: given.name }); } },
    id: { 'as is': () => people({ id, disk: ada.disk, post: ada.post }) },
    list: { 'as is': () => people({ id: { $in: [id] } }) },
    time: {
      'as is': () => people({ id: { $gte: since } }),
      '`raw`': () => people({ id: { $gte: raw('?::timestamptz', [since]) } }),
    },
    diff: await orm.schema.getUpdateSchemaSQL() === '' ? 'empty' : 'not empty',
  });
  await orm.close();
})();
