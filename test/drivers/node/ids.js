const assert = require('node:assert');
const { Client } = require('pg');

async function main() {
  const client = new Client(); // connects where PGHOST, PGPORT, PGUSER and PGDATABASE say
  await client.connect();

  // All four arrive as strings: pg knows no type sno, gid or mastic, and a number would not hold every bigint.
  const inserted = await client.query("INSERT INTO person (name) VALUES ('ada') RETURNING id, disk, post, invoice");
  const { id, disk, post, invoice } = inserted.rows[0];
  console.log(typeof id, typeof disk, typeof post, typeof invoice);

  // A Snowflake-SI id is at most 2^53 - 1: a number is safe. A Mastic id is not, from May 2030 on: BigInt, or the string.
  assert(Number.isSafeInteger(Number(invoice)));
  const { later } = (await client.query("SELECT make_mastic('2031-01-01 00:00:00+00', 1) AS later")).rows[0];
  console.log(later, BigInt(later), Number(later));

  // In JSON made by the server a mastic is a string. A bigint is a bare number, which JSON.parse spoils.
  const json = await client.query(
    "SELECT json_build_object('id', $1::mastic::bigint)::text AS number, json_build_object('id', $1::mastic)::text AS string",
    [later]);
  const [spoilt, kept] = [JSON.parse(json.rows[0].number), JSON.parse(json.rows[0].string)];
  console.log(String(spoilt.id) === later, kept.id === later);

  // Strings go back as they came.
  const found = await client.query(
    'SELECT name FROM person WHERE id = $1 AND disk = $2 AND post = $3 AND invoice = $4', [id, disk, post, invoice]);
  console.log(found.rows[0].name);
  const some = await client.query('SELECT name FROM person WHERE id = ANY($1)', [[id]]);
  console.log(some.rows.length);

  // A Date has no type on the wire. Next to a sno it is read as a sno, unless the query says what it is.
  const since = new Date(Date.now() - 3600 * 1000);
  await assert.rejects(client.query('SELECT name FROM person WHERE id >= $1', [since]), { code: '22P02' });
  const recent = await client.query('SELECT name FROM person WHERE id >= $1::timestamptz', [since]);
  console.log(recent.rows.length);

  // With binary: true pg takes the bytes of unknown types for text, without an error. Cast to text there.
  const binary = await client.query({
    text: 'SELECT id, id::text AS text FROM person WHERE name = $1', values: ['ada'], binary: true });
  console.log(binary.rows[0].id === id, binary.rows[0].text === id);

  await client.end();
}

main();
