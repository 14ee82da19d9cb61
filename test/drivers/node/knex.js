const knex = require('knex');
const { given, row, since } = require('./row');

(async () => {
  const { PGHOST: host, PGPORT: port, PGUSER: user, PGDATABASE: database } = process.env;
  const db = knex({ client: 'pg', connection: { host, port, user, database } });
  const [person] = await db('person').insert({ name: 'ada' }).returning('*');
  const people = () => db('person');
  await row(person, {
    write: { 'as is': () => people().insert(given).returning('*') },
    id: { 'as is': () => people().where({ id: person.id, disk: person.disk, post: person.post }) },
    list: { 'as is': () => people().whereIn('id', [person.id]) },
    time: {
      'as is': () => people().where('id', '>=', since),
      '`::timestamptz`': () => people().whereRaw('id >= ?::timestamptz', since),
    },
    diff: '',
  });
  await db.destroy();
})();
