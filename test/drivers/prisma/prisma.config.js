// With engine "js", Prisma's schema engine is WebAssembly, and no program is downloaded. @prisma/adapter-pg does not
// know the types "char" and name, so they are given to it as text.
const { PrismaPg } = require('@prisma/adapter-pg');
const Result = require('pg/lib/result');

const { addFields } = Result.prototype;
Result.prototype.addFields = function (fields) {
  for (const field of fields) if ([18, 19].includes(field.dataTypeID)) field.dataTypeID = 25;
  return addFields.call(this, fields);
};

// The engine leaves a timer of 60 seconds, for which Prisma would wait.
const timer = globalThis.setTimeout;
globalThis.setTimeout = (call, delay, ...args) => (delay < 60000 ? timer(call, delay, ...args) : timer(call, delay, ...args).unref());

module.exports = {
  schema: 'schema.prisma',
  experimental: { adapter: true },
  engine: 'js',
  adapter: async () => new PrismaPg({ allowExitOnIdle: true, idleTimeoutMillis: 50 }),
};
