const { pushSchema } = require('drizzle-kit/api');
const { eq, gte, inArray, sql } = require('drizzle-orm');
const { drizzle } = require('drizzle-orm/node-postgres');
const { bigint, customType, pgTable, text } = require('drizzle-orm/pg-core');
const { Pool } = require('pg');
const { given, row, since } = require('./row');

const [sno, gid, mastic] = ['sno', 'gid', 'mastic'].map((name) => customType({ dataType: () => name }));
const person = pgTable('person', {
  id: sno('id').primaryKey().default(sql`gen_sno()`),
  disk: gid('disk').notNull().default(sql`gen_gid('volume'::text)`),
  post: mastic('post').notNull().default(sql`gen_mastic()`),
  number: bigint('number', { mode: 'bigint' }).notNull().default(sql`gen_mastic()`),
  name: text('name'),
});

(async () => {
  const pool = new Pool();
  const db = drizzle(pool);
  const [ada] = await db.insert(person).values({ name: 'ada' }).returning();
  const where = (condition) => db.select().from(person).where(condition);
  const say = process.stdout.write;
  process.stdout.write = () => true; // it shows that it is busy
  const changes = (await pushSchema({ person }, db, ['public'])).statementsToExecute;
  process.stdout.write = say;
  await row(ada, {
    write: { 'as is': () => db.insert(person).values({ ...given, number: BigInt(given.number) }).returning() },
    id: { 'as is': () => where(eq(person.id, ada.id)) },
    list: { 'as is': () => where(inArray(person.id, [ada.id])) },
    time: {
      'as is': () => where(gte(person.id, since)),
      '`::timestamptz`': () => where(sql`${person.id} >= ${since.toISOString()}::timestamptz`),
    },
    diff: changes.length === 0 ? 'empty' : changes.join(),
  });
  await pool.end();
})();
