// doc/drivers.md: what Prisma's db push, first migration (without and with the page's line) and later migrate dev do to
// an unchanged table. The page is the first argument.
const { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } = require('fs');
const { home, load, prisma, prismaInTerminal } = require('./home');
const { Client } = load('pg');

const [, chapter] = readFileSync(process.argv[2], 'utf8').split('\n## Prisma\n');
const line = chapter.match(/```sql\n(.*?)```/s)[1];
const migrations = `${home}/migrations`;

(async () => {
  const client = new Client();
  await client.connect();
  const types = async () => (await client.query(`
    SELECT string_agg(format('%s %s', attname, atttypid::regtype), ', ' ORDER BY attnum) AS types
    FROM pg_attribute WHERE attrelid = 'person'::regclass AND attnum > 0 AND NOT attisdropped`)).rows[0].types;
  const deployed = (sql, name = '1_first') => {
    mkdirSync(`${migrations}/${name}`, { recursive: true });
    writeFileSync(`${migrations}/migration_lock.toml`, 'provider = "postgresql"');
    writeFileSync(`${migrations}/${name}/migration.sql`, sql);
    const { status, said } = prisma('migrate', 'deploy');
    return status === 0 ? 'done' : said.match(/ERROR: .*/)?.[0] ?? said;
  };

  rmSync(migrations, { recursive: true, force: true });
  const schema = readFileSync(`${home}/schema.prisma`, 'utf8');
  writeFileSync(`${home}/unsupported.prisma`, schema.replace(/id +String/, 'id Unsupported("sno")'));
  console.log(`Unsupported: ${prisma('validate', '--schema', 'unsupported.prisma').said.match(/rror.*@id.*/)?.[0]}`);
  const written = prisma('migrate', 'diff', '--from-empty', '--to-schema-datamodel', 'schema.prisma', '--script').out;
  console.log(`writes: ${written.match(/"id" .*/)[0]}`);
  console.log(`first migration, as written: ${deployed(written)}`);
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  const ours = { id: 'sno', disk: 'gid(volume)', post: 'mastic' };
  const edited = line + written.replace(/"(id|disk|post)" TEXT/g, (text, name) => `"${name}" ${ours[name]}`);
  console.log(`first migration, with the line and the types: ${deployed(edited)}`);
  console.log(`types: ${await types()}`);

  // With engine "js", it fails after it has written the migration.
  prismaInTerminal('migrate', 'dev', '--create-only', '--name', 'second');
  const second = readdirSync(migrations).find((name) => name.endsWith('_second'));
  const changes = second ? readFileSync(`${migrations}/${second}/migration.sql`, 'utf8') : 'nothing';
  console.log(`migrate dev: ${changes.match(/^(ALTER|ADD|DROP|CREATE) .*/mg)?.join('\n')}`);
  console.log(`without these lines: ${deployed(changes.replace(/^(ALTER|ADD) .*/mg, ''), second)}`);
  console.log(`types: ${await types()}`);
  rmSync(migrations, { recursive: true });

  const { rows: [{ id }] } = await client.query("INSERT INTO person (name) VALUES ('ada') RETURNING id");
  const push = prisma('db', 'push', '--skip-generate');
  console.log(`push: ${push.status}\n${push.said.match(/(?<=^ *• ).*/mg)?.join('\n')}`);
  console.log(`types: ${await types()}`);
  const forced = prisma('db', 'push', '--skip-generate', '--accept-data-loss');
  console.log(`push --accept-data-loss: ${forced.status}`);
  console.log(`types: ${await types()}`);
  const { rows } = await client.query('SELECT id FROM person');
  console.log(`ids: ${rows.length === 1 && rows[0].id === id ? 'kept' : 'lost'}`);
  await client.end();
})();
