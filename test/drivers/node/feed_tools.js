// doc/drivers.md: what a schema tool wants to change in the table "story", which has a feed, and whether it can. The first
// argument is the tool, the second says whether its model is as on the page. Then it inserts, changes and deletes rows.
const { PGHOST: host, PGPORT, PGUSER: user, PGDATABASE: database } = process.env;
const port = +PGPORT;
const said = async (apply) => apply().then(() => 'done', (error) => (error.cause ?? error.original ?? error).code ?? String(error));

const typeorm = async (withFeed) => {
  const { DataSource, EntitySchema } = require('typeorm');
  const entity = new EntitySchema({
    name: 'story',
    columns: {
      id: { type: 'bigint', primary: true, default: () => 'gen_mastic()' },
      title: { type: 'text', nullable: true },
      ...withFeed && {
        stamp: { type: 'bigint', insert: false, update: false, select: false },
      },
    },
    indices: withFeed ? [
      { name: 'story_stamp_idx', columns: ['stamp'], synchronize: false },
    ] : [],
  });
  const source = await new DataSource({ type: 'postgres', host, port, username: user, database, entities: [entity] }).initialize();
  const stories = source.getRepository('story');
  return {
    wants: async () => (await source.driver.createSchemaBuilder().log()).upQueries.map(({ query }) => query),
    apply: () => source.synchronize(),
    write: async () => {
      const { id } = await stories.save({ title: 'new' });
      await stories.save({ id, title: 'changed' });
      await stories.delete((await stories.save({ title: 'gone' })).id);
    },
    end: () => source.destroy(),
  };
};

// `sync({ alter: true })` alters each column to the type that it has, which the server refuses for columns of the feed.
const sequelize = async (withFeed) => {
  const { DataTypes, Sequelize, literal } = require('sequelize');
  const db = new Sequelize(database, user, '', { host, port, dialect: 'postgres', logging: false });
  const Story = db.define('story', {
    id: { type: DataTypes.BIGINT, primaryKey: true, defaultValue: literal('gen_mastic()') },
    title: DataTypes.TEXT,
  }, { freezeTableName: true, timestamps: false });
  return {
    wants: async () => [],
    apply: () => db.sync({ alter: !withFeed }),
    write: async () => {
      const story = await Story.create({ title: 'new' });
      await story.update({ title: 'changed' });
      await (await Story.create({ title: 'gone' })).destroy();
    },
    end: () => db.close(),
  };
};

const drizzle = async (withFeed) => {
  const { pushSchema } = require('drizzle-kit/api');
  const { eq, sql } = require('drizzle-orm');
  const { bigint, index, pgTable, text } = require('drizzle-orm/pg-core');
  const { Pool } = require('pg');
  const pool = new Pool();
  const db = require('drizzle-orm/node-postgres').drizzle(pool);
  const columns = {
    id: bigint('id', { mode: 'bigint' }).primaryKey().default(sql`gen_mastic()`),
    title: text('title'),
  };
  const story = !withFeed ? pgTable('story', columns) : pgTable('story', {
    ...columns,
    stamp: bigint('stamp', { mode: 'bigint' }).notNull().$defaultFn(() => 0n),
  }, (t) => [index('story_stamp_idx').on(t.stamp)]);
  const changes = async () => {
    const say = process.stdout.write;
    process.stdout.write = () => true; // it shows that it is busy
    try {
      return await pushSchema({ story }, db, ['public']);
    } finally {
      process.stdout.write = say;
    }
  };
  return {
    wants: async () => (await changes()).statementsToExecute,
    apply: async () => (await changes()).apply(),
    write: async () => {
      const [{ id }] = await db.insert(story).values({ title: 'new' }).returning();
      await db.update(story).set({ title: 'changed' }).where(eq(story.id, id));
      await db.insert(story).values({ title: 'gone' });
      await db.delete(story).where(eq(story.title, 'gone'));
    },
    end: () => pool.end(),
  };
};

const mikroorm = async (withFeed) => {
  const { EntitySchema, MikroORM } = require('@mikro-orm/postgresql');
  const Story = new EntitySchema({
    name: 'story',
    properties: {
      id: { type: 'bigint', primary: true, autoincrement: false, defaultRaw: 'gen_mastic()' },
      title: { type: 'text', nullable: true },
      ...withFeed && {
        stamp: { type: 'bigint', lazy: true, onCreate: () => 0, index: 'story_stamp_idx' },
      },
    },
  });
  const orm = await MikroORM.init({
    entities: [Story], host, port, user, dbName: database,
    schemaGenerator: { ignoreSchema: ['snowflake_ids', 'snowflake_ids_convert', 'feeds'] },
  });
  return {
    wants: async () => (await orm.schema.getUpdateSchemaSQL({ wrap: false })).split('\n').filter(Boolean),
    apply: () => orm.schema.updateSchema(),
    write: async () => {
      const em = orm.em.fork();
      const [story, gone] = ['new', 'gone'].map((title) => em.create('story', { title }));
      await em.flush();
      story.title = 'changed';
      em.remove(gone);
      await em.flush();
    },
    end: () => orm.close(),
  };
};

(async () => {
  const [, , name, model] = process.argv;
  const tool = await { drizzle, mikroorm, sequelize, typeorm }[name](model === 'with');
  console.log(`wants: ${(await tool.wants()).join(' ')}`);
  console.log(`applied: ${await said(tool.apply)}`);
  if (model === 'with') console.log(`writes: ${await said(tool.write)}`);
  await tool.end();
})();
