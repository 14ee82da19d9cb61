const { Kysely, PostgresDialect, sql } = require('kysely');
const { Pool } = require('pg');
const { given, row, since } = require('./row');

(async () => {
  const db = new Kysely({ dialect: new PostgresDialect({ pool: new Pool() }) });
  const person = await db.insertInto('person').values({ name: 'ada' }).returningAll().executeTakeFirst();
  const people = db.selectFrom('person').selectAll();
  await row(person, {
    write: { 'as is': () => db.insertInto('person').values(given).returningAll().execute() },
    id: { 'as is': () => people.where('id', '=', person.id).where('post', '=', person.post).execute() },
    list: { 'as is': () => people.where('id', 'in', [person.id]).execute() },
    time: {
      'as is': () => people.where('id', '>=', since).execute(),
      '`::timestamptz`': () => people.where('id', '>=', sql`${since}::timestamptz`).execute(),
    },
    diff: '',
  });
  await db.destroy();
})();
