// The query interface as migrations use it, kept and taken back by Umzug, and what it reads of the schema.
const { DataTypes } = require('sequelize')
const { Umzug, SequelizeStorage } = require('umzug')
const { definitions, refused, step } = require('../node/steps')

const migrations = [
  {
    name: '01-tables',
    async up({ context }) {
      await context.createTable('shelves', {
        id: { type: DataTypes.INTEGER.UNSIGNED, autoIncrement: true, primaryKey: true },
        room: { type: DataTypes.STRING(30), allowNull: false, comment: 'where it stands' },
        width: { type: DataTypes.DECIMAL(6, 2), defaultValue: 1.25 },
        state: { type: DataTypes.ENUM('new', 'old'), defaultValue: 'new' },
        made: { type: DataTypes.DATE, defaultValue: DataTypes.NOW && context.sequelize.literal('CURRENT_TIMESTAMP') },
      }, { comment: 'shelves of the library', uniqueKeys: { one_of_a_room: { fields: ['room', 'state'] } } })
      await context.createTable('copies', {
        id: { type: DataTypes.BIGINT, autoIncrement: true, primaryKey: true },
        shelf: { type: DataTypes.INTEGER.UNSIGNED, references: { model: 'shelves', key: 'id' }, onDelete: 'CASCADE', onUpdate: 'NO ACTION' },
        label: DataTypes.STRING(20),
      })
    },
    async down({ context }) {
      await context.dropTable('copies')
      await context.dropTable('shelves')
    },
  },
  {
    name: '02-columns',
    async up({ context }) {
      await context.addColumn('copies', 'bought', { type: DataTypes.DATEONLY, after: 'id' })
      await context.addColumn('copies', 'lender', { type: DataTypes.STRING(10), first: true })
      await context.addColumn('copies', 'previous', { type: DataTypes.BIGINT, references: { model: 'copies', key: 'id' }, onDelete: 'SET NULL' })
      await context.changeColumn('copies', 'label', { type: DataTypes.STRING(60), allowNull: false, defaultValue: 'none', unique: true })
      await context.renameColumn('copies', 'lender', 'borrower')
      await context.changeColumn('shelves', 'state', { type: DataTypes.ENUM('new', 'old', 'lost'), allowNull: false, defaultValue: 'old' })
    },
    async down({ context }) {
      await context.changeColumn('shelves', 'state', { type: DataTypes.ENUM('new', 'old'), defaultValue: 'new' })
      await context.removeColumn('copies', 'previous')
      await context.removeColumn('copies', 'borrower')
      await context.removeColumn('copies', 'bought')
    },
  },
  {
    name: '03-constraints',
    async up({ context }) {
      await context.addIndex('copies', ['bought', { name: 'label', length: 5, order: 'DESC' }], { name: 'copies_bought' })
      await context.addIndex('copies', { fields: ['borrower', 'bought'], unique: true, type: 'UNIQUE' })
      await context.addConstraint('shelves', { type: 'check', fields: ['width'], where: { width: { [require('sequelize').Op.gt]: 0 } } })
      await context.addConstraint('shelves', { type: 'unique', fields: ['room', 'width'], name: 'room_width' })
      await context.createTable('rooms', { name: { type: DataTypes.STRING(30), primaryKey: true } })
      await context.addConstraint('shelves', { type: 'foreign key', fields: ['room'], name: 'shelf_room', references: { table: 'rooms', field: 'name' }, onUpdate: 'cascade', onDelete: 'restrict' })
    },
    async down({ context }) {
      await context.removeConstraint('shelves', 'shelf_room')
      await context.removeConstraint('shelves', 'room_width')
      await context.removeConstraint('shelves', 'shelves_width_ck').catch(() => context.sequelize.query('ALTER TABLE shelves DROP CHECK shelves_width_ck'))
      await context.removeIndex('copies', 'copies_bought')
      await context.removeIndex('copies', ['borrower', 'bought'])
      await context.dropTable('rooms')
    },
  },
]

const names = found => found.map(migration => migration.name)

async function read(queries, table) {
  await step(`describeTable ${table}`, () => queries.describeTable(table))
  await step(`showIndex ${table}`, () => queries.showIndex(table))
  await step(`showConstraint ${table}`, async () => (await queries.showConstraint(table)).sort((a, b) => a.constraintName < b.constraintName ? -1 : 1))
  await step(`foreign keys of ${table}`, () => queries.getForeignKeyReferencesForTable(table))
}

module.exports = async (sequelize, connection) => {
  const queries = sequelize.getQueryInterface()
  const umzug = new Umzug({ migrations, context: queries, storage: new SequelizeStorage({ sequelize }), logger: undefined })
  await step('migrations pending', async () => names(await umzug.pending()))
  for (const migration of migrations) {
    await step(`migrate ${migration.name}`, async () => names(await umzug.up({ to: migration.name })))
    await definitions(connection, migration.name)
  }
  await step('migrations executed', async () => names(await umzug.executed()))
  for (const table of ['rooms', 'shelves', 'copies']) await read(queries, table)
  await step('showAllTables', () => queries.showAllTables())
  await step('tableExists', async () => [await queries.tableExists('rooms'), await queries.tableExists('halls')])
  await step('showAllSchemas', async () => (await queries.showAllSchemas()).filter(schema => JSON.stringify(schema).includes('applications_sequelize')))
  await step('databaseVersion is a version', async () => /^\d+\.\d+\.\d+/.test(await queries.databaseVersion()))
  await step('the check holds', async () => {
    await queries.bulkInsert('rooms', [{ name: 'hall' }, { name: 'attic' }])
    return refused(() => queries.bulkInsert('shelves', [{ room: 'hall', width: -1 }]))
  })
  await step('the foreign key holds', () => refused(() => queries.bulkInsert('shelves', [{ room: 'cellar', width: 1 }])))
  await step('rows follow their parents', async () => {
    await queries.bulkInsert('shelves', [{ room: 'hall', width: 2 }])
    await queries.bulkInsert('copies', [{ shelf: 1, label: 'one' }, { shelf: 1, label: 'two' }])
    await queries.bulkUpdate('rooms', { name: 'foyer' }, { name: 'hall' })
    const moved = await queries.select(null, 'shelves', { attributes: ['id', 'room', 'width', 'state'] })
    await queries.bulkDelete('shelves', { id: 1 })
    return [moved, await queries.select(null, 'copies', {})]
  })
  await step('renameTable', async () => {
    await queries.renameTable('copies', 'items')
    await queries.renameTable('items', 'copies')
  })
  for (const migration of [...migrations].reverse()) {
    await step(`take back ${migration.name}`, async () => names(await umzug.down()))
    await definitions(connection, `without ${migration.name}`)
  }
  await step('dropAllTables', async () => { await queries.dropAllTables() })
}
