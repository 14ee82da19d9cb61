// doc/drivers.md: what Prisma wants to change in the table "story", which has a feed, and whether it can. The first
// argument says whether its model is as on the page. Then its client inserts, changes and deletes rows.
const { readFileSync, writeFileSync } = require('fs');
const { home, load, prisma } = require('./home');

const model = process.argv[2];
const stamp = `
  stamp BigInt @default(dbgenerated()) @ignore
  @@index([stamp])
`;
const start = readFileSync(`${home}/schema.prisma`, 'utf8').replace(/model [^]*/, '');
writeFileSync(`${home}/schema.prisma`, `${start}
model story {
  id    BigInt  @id @default(dbgenerated("gen_mastic()"))
  title String?
${model === 'with' ? stamp : ''}
}
`);

(async () => {
  const { status, said } = prisma('db', 'push', '--skip-generate', '--accept-data-loss');
  const error = said.match(/RuntimeError: unreachable|ERROR: .*/)?.[0] ?? said;
  console.log(`applied: ${status === 0 ? said.match(/already in sync/)?.[0] : error}`);
  if (model !== 'with') return;
  const generated = prisma('generate');
  if (generated.status !== 0) throw new Error(generated.said);
  const { PrismaClient } = load('@prisma/client');
  const { PrismaPg } = load('@prisma/adapter-pg');
  const client = new PrismaClient({ adapter: new PrismaPg({}) });
  const [story, gone] = [await client.story.create({ data: { title: 'new' } }), await client.story.create({ data: { title: 'gone' } })];
  await client.story.update({ where: { id: story.id }, data: { title: 'changed' } });
  await client.story.delete({ where: { id: gone.id } });
  console.log('writes: done');
  await client.$disconnect();
})();
