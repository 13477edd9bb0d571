// The query runner: what it reads of tables, columns and keys, and each change of a schema that it knows.
const { Table, TableCheck, TableColumn, TableForeignKey, TableIndex, TableUnique, View } = require('typeorm')
const { refused, step } = require('../node/steps')

// The library reads all of these without an order.
const PARTS = ['columns', 'indices', 'foreignKeys', 'uniques', 'checks']

function read(table) {
  const keep = ({ '@instanceof': _, ...more }) => more
  const parts = PARTS.map(part => [part, table[part].map(keep).sort((a, b) => a.name < b.name ? -1 : 1)])
  return { name: table.name, ...Object.fromEntries(parts), engine: table.engine, comment: table.comment }
}

async function describe(runner) {
  for (const name of ['every_type', 'customers', 'orders', 'order_products', 'products']) await step(`getTable ${name}`, async () => read(await runner.getTable(name)))
  await step('getTables', async () => (await runner.getTables()).map(table => table.name).filter(name => !name.includes('.')).sort())
  await step('getViews', async () => (await runner.getViews()).map(view => [view.name, view.expression]))
  await step('hasTable, hasColumn', async () => [await runner.hasTable('orders'), await runner.hasTable('x'), await runner.hasColumn('orders', 'state'), await runner.hasColumn('orders', 'x')])
  await step('hasDatabase, hasSchema', async () => [await runner.hasDatabase('applications_typeorm'), await runner.hasDatabase('x'), await runner.getCurrentDatabase()])
}

async function change(runner) {
  await step('createTable', async () => {
    await runner.createTable(new Table({ name: 'notes', comment: 'what is noted', columns: [{ name: 'id', type: 'int', isPrimary: true, isGenerated: true, generationStrategy: 'increment' }, { name: 'text', type: 'varchar', length: '30', isNullable: true, default: "'none'" }],
      uniques: [{ columnNames: ['text'] }], indices: [{ columnNames: ['text', 'id'], name: 'text_id' }] }))
    return read(await runner.getTable('notes'))
  })
  const changes = {
    addColumn: () => runner.addColumn('notes', new TableColumn({ name: 'customer', type: 'int', isNullable: true, comment: 'whose' })),
    createForeignKey: () => runner.createForeignKey('notes', new TableForeignKey({ columnNames: ['customer'], referencedTableName: 'customers', referencedColumnNames: ['id'], onDelete: 'CASCADE', name: 'note_customer' })),
    createIndex: () => runner.createIndex('notes', new TableIndex({ columnNames: ['customer', 'text'], isUnique: true, name: 'one_note' })),
    createUniqueConstraint: () => runner.createUniqueConstraint('notes', new TableUnique({ columnNames: ['customer'], name: 'x' })).catch(error => error.message),
    createCheckConstraint: () => runner.createCheckConstraint('notes', new TableCheck({ expression: '`id` > 0', name: 'x' })).catch(error => error.message),
    'changeColumn type': () => runner.changeColumn('notes', 'text', new TableColumn({ name: 'text', type: 'varchar', length: '60', isNullable: false, default: "'some'" })),
    renameColumn: () => runner.renameColumn('notes', 'text', 'words'),
    'renameColumn back': () => runner.renameColumn('notes', 'words', 'text'),
    'changeColumn to no primary key': () => runner.changeColumn('notes', 'id', new TableColumn({ name: 'id', type: 'int' })),
    createPrimaryKey: () => runner.createPrimaryKey('notes', ['id']),
    updatePrimaryKeys: async () => runner.updatePrimaryKeys('notes', (await runner.getTable('notes')).columns.filter(column => ['id', 'text'].includes(column.name))),
    dropPrimaryKey: () => runner.dropPrimaryKey('notes'),
    changeTableComment: () => runner.changeTableComment('notes', 'it\'s noted'),
    'addColumn generated': () => runner.addColumn('notes', new TableColumn({ name: 'upper', type: 'varchar', length: '30', asExpression: 'upper(`text`)', generatedType: 'STORED', isNullable: true })),
    dropForeignKey: () => runner.dropForeignKey('notes', 'note_customer'),
    dropIndex: () => runner.dropIndex('notes', 'one_note'),
    renameTable: () => runner.renameTable('notes', 'remarks'),
    dropColumn: () => runner.dropColumn('remarks', 'upper'),
    'renameTable back': () => runner.renameTable('remarks', 'notes'),
  }
  for (const [name, action] of Object.entries(changes)) {
    await step(name, action)
    await step(`after ${name}`, async () => read(await runner.getTable(await runner.hasTable('notes') ? 'notes' : 'remarks')))
  }
  await step('createView', async () => {
    await runner.createView(new View({ name: 'noted', expression: 'SELECT `text` FROM `notes`' }), true)
    const view = await runner.getView('noted')
    await runner.dropView('noted')
    return [view.name, view.expression]
  })
  await step('createDatabase, dropDatabase', async () => {
    await runner.createDatabase('applications_typeorm_2', true)
    const before = await runner.hasDatabase('applications_typeorm_2')
    await runner.dropDatabase('applications_typeorm_2', true)
    return [before, await runner.hasDatabase('applications_typeorm_2')]
  })
  await step('clearTable of a parent', () => refused(() => runner.clearTable('customers')))
  await step('dropTable', () => runner.dropTable('notes', true, true, true))
}

module.exports = async source => {
  const runner = source.createQueryRunner()
  await describe(runner)
  await change(runner)
  await runner.release()
}
