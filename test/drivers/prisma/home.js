// A directory with Prisma and these files, as Prisma wants them: PRISMA_HOME, where tools/setup has installed it.
const { spawnSync } = require('child_process');
const { copyFileSync } = require('fs');
const { createRequire } = require('module');

const home = process.env.PRISMA_HOME;
exports.home = home;
exports.load = createRequire(`${home}/`);
const run = (program, args) => {
  const env = { ...process.env, CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1' };
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: home, env, encoding: 'utf8' });
  return { status, out: stdout, said: stdout + stderr };
};
const main = 'node_modules/prisma/build/index.js';
exports.prisma = (...args) => run('node', [main, ...args]);
// For commands that refuse to run without a terminal.
exports.prismaInTerminal = (...args) => run('script', ['-qec', `node ${main} ${args.join(' ')}`, '/dev/null']);
for (const file of ['schema.prisma', 'prisma.config.js']) copyFileSync(`${__dirname}/${file}`, `${home}/${file}`);
