const { DataTypes, Op, Sequelize, literal } = require('sequelize');
const { given, row, since } = require('./row');

(async () => {
  const { PGHOST: host, PGPORT: port, PGUSER, PGDATABASE } = process.env;
  const sequelize = new Sequelize(PGDATABASE, PGUSER, '', { host, port, dialect: 'postgres', logging: false });
  const Person = sequelize.define('person', {
    id: { type: 'sno', primaryKey: true, defaultValue: literal('gen_sno()') },
    disk: { type: 'gid(volume)', allowNull: false, defaultValue: literal("gen_gid('volume')") },
    post: { type: 'mastic', allowNull: false, defaultValue: literal('gen_mastic()') },
    number: { type: DataTypes.BIGINT, allowNull: false, defaultValue: literal('gen_mastic()') },
    name: DataTypes.TEXT,
  }, { freezeTableName: true, timestamps: false });

  const person = await Person.create({ name: 'ada' });
  const said = [];
  await Person.sync({ alter: true, logging: (query) => said.push(query) });
  if (!said.join().includes('ALTER COLUMN "post" TYPE mastic')) throw new Error('alter has changed');
  const all = (where) => Person.findAll({ where });
  await row(person.get(), {
    write: { 'as is': async () => [(await (await Person.create(given)).reload()).get()] },
    id: { 'as is': () => all({ id: person.id, disk: person.disk, post: person.post }) },
    list: { 'as is': () => all({ id: [person.id] }) },
    time: {
      'as is': () => all({ id: { [Op.gte]: since } }),
      '`cast()`': () => all(sequelize.where(sequelize.col('id'), '>=', sequelize.cast(since, 'timestamptz'))),
    },
    diff: 'never empty; keeps ids',
  });
  await sequelize.close();
})();
