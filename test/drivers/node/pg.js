const { Client } = require('pg');
const { given, row, since } = require('./row');

(async () => {
  const client = new Client(); // connects where PGHOST, PGPORT, PGUSER and PGDATABASE say
  await client.connect();
  const found = async (...query) => (await client.query(...query)).rows;
  const [person] = await found("INSERT INTO person (name) VALUES ('ada') RETURNING *");
  await row(person, {
    write: { 'as is': () => found('INSERT INTO person (id, disk, post, number, name) VALUES ($1, $2, $3, $4, $5) RETURNING *', Object.values(given)) },
    id: { 'as is': () => found('SELECT * FROM person WHERE id = $1 AND disk = $2 AND post = $3', [person.id, person.disk, person.post]) },
    list: { 'as is': () => found('SELECT * FROM person WHERE id = ANY($1)', [[person.id]]) },
    time: {
      'as is': () => found('SELECT * FROM person WHERE id >= $1', [since]),
      '`::timestamptz`': () => found('SELECT * FROM person WHERE id >= $1::timestamptz', [since]),
    },
    diff: '',
  });

  // An array of ids is one string until its type, whose number differs between databases, has a parser.
  const { oid } = (await client.query("SELECT 'sno[]'::regtype::oid")).rows[0];
  require('pg').types.setTypeParser(oid, (text) => text.slice(1, -1).split(','));
  // A bigint that is exact as a number, as Snowflake-SI ids and counts are, becomes one. A larger one stays a string.
  require('pg').types.setTypeParser(20, (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : text));
  const [{ ids }] = await found('SELECT array_agg(id) AS ids FROM person');
  if (ids[0] !== person.id) throw new Error('an array of ids is not read');
  // With binary: true pg takes the bytes of unknown types for text.
  const query = { text: 'SELECT id, id::text AS text FROM person WHERE name = $1', values: ['ada'], binary: true };
  const [binary] = await found(query);
  if (binary.id === person.id || binary.text !== person.id) throw new Error('binary has changed');

  const [large] = await found('SELECT si, si::text AS text, 9007199254740993 AS large FROM gen_snowflake_si() AS si');
  if (large.si !== Number(large.text) || String(large.si) !== large.text) throw new Error('Snowflake-SI is no number');
  if (large.large !== '9007199254740993') throw new Error('a larger bigint was rounded');
  await client.end();
})();
