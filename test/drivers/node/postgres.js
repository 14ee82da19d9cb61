const postgres = require('postgres');
const { given, row, since } = require('./row');

(async () => {
  const { PGHOST: host, PGPORT: port, PGUSER: username, PGDATABASE: database } = process.env;
  const sql = postgres({ host, port, username, database });
  const [person] = await sql`INSERT INTO person (name) VALUES ('ada') RETURNING *`;
  const { id, disk, post } = person;
  await row(person, {
    write: { 'as is': () => sql`INSERT INTO person ${sql(given)} RETURNING *` },
    id: { 'as is': () => sql`SELECT * FROM person WHERE id = ${id} AND disk = ${disk} AND post = ${post}` },
    list: { 'as is': () => sql`SELECT * FROM person WHERE id = ANY(${[id]})` },
    time: { 'as is': () => sql`SELECT * FROM person WHERE id >= ${since}` },
    diff: '',
  });
  await sql.end();
})();
