// doc/drivers.md: what MikroORM's schema generator and migrations propose for an unchanged table, without and with the
// page's line. The page is the first argument.
const { mkdtempSync, readFileSync, rmSync } = require('fs');
const { tmpdir } = require('os');
const { Migrator } = require('@mikro-orm/migrations');
const { Person, connected } = require('./mikroorm');

const [, chapter] = readFileSync(process.argv[2], 'utf8').split('\n## MikroORM\n');
const [, line] = chapter.match(/```js\n(.*?)```/s);
const { schemaGenerator } = eval(`({${line}})`);

(async () => {
  const path = mkdtempSync(`${tmpdir()}/migrations-`);
  for (const [name, options] of [['without', undefined], ['with', schemaGenerator]]) {
    const orm = await connected(Person, options);
    console.log(`${name}: ${await orm.schema.getUpdateSchemaSQL({ wrap: false })}`);
    console.log(`update ${name}: ${await orm.schema.updateSchema().then(() => 'done', ({ code }) => code)}`);
    orm.config.set('migrations', { ...orm.config.get('migrations'), path, snapshot: false });
    const migration = await new Migrator(orm.em).createMigration().then(({ diff }) => diff.up.join('\n'), String);
    console.log(`migration ${name}: ${migration}`);
    await orm.close();
  }
  rmSync(path, { recursive: true });
})();
