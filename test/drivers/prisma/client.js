// Prisma's client, with the driver adapter of node-postgres.
const { load, prisma } = require('./home');
const { given, row, since } = require('../node/row');

(async () => {
  const generated = prisma('generate');
  if (generated.status !== 0) throw new Error(generated.said);
  const { PrismaClient } = load('@prisma/client');
  const { PrismaPg } = load('@prisma/adapter-pg');
  const client = new PrismaClient({ adapter: new PrismaPg({}) });
  const people = (where) => client.person.findMany({ where });
  const { id, disk, post } = await client.person.create({ data: { name: 'ada' } });
  const [ada] = await people({ id });
  // The server's error is inside another one.
  const raw = (query) => query.catch((error) => { throw { code: error.meta?.driverAdapterError.cause.originalCode, error }; });
  await row(ada, {
    write: { 'as is': async () => [await client.person.create({ data: { ...given, number: BigInt(given.number) } })] },
    id: { 'as is': () => people({ id, disk, post }) },
    list: { 'as is': () => people({ id: { in: [id] }, post: { in: [post] } }) },
    time: {
      'as is': () => raw(client.$queryRaw`SELECT name FROM person WHERE id >= ${since}`),
      '`$queryRaw`': () => raw(client.$queryRaw`SELECT name FROM person WHERE id >= ${since}::timestamptz`),
    },
    diff: prisma('db', 'push', '--skip-generate').status === 0 ? 'empty' : 'not empty',
  });

  // What else the page says of it
  const one = (rows, what) => { if (rows.length !== 1 || rows[0].name !== 'grace') throw new Error(what); };
  one(await people({ id: given.id, OR: [{ id: { gt: '2222222222222222' } }] }), 'gt');
  one(await client.person.findMany({ cursor: { id: given.id }, orderBy: { id: 'asc' }, take: 1 }), 'cursor');
  one([await client.person.update({ where: { id: given.id }, data: { number: 6n } })], 'update');
  one([await client.person.upsert({ where: { id: given.id }, update: { number: 7n }, create: { name: 'new' } })], 'upsert');
  if ((await client.person.createMany({ data: [{ name: 'a' }, { name: 'b' }] })).count !== 2) throw new Error('createMany');
  await client.$disconnect();
})();
