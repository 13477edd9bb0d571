// Three migrations from a source of their own: forward one by one, back by batches, and lists of what is done.
const { definitions, step } = require('../node/steps')

const migrations = {
  '001_people': {
    up: database => database.schema.createTable('people', table => {
      table.increments('id')
      table.string('name', 80).notNullable().unique()
      table.integer('born').unsigned().index()
      table.timestamps(true, true)
      table.comment('who wrote')
    }),
    down: database => database.schema.dropTable('people'),
  },
  '002_books': {
    up: database => database.schema.createTable('books', table => {
      table.bigIncrements('id')
      table.integer('person').unsigned().notNullable().references('id').inTable('people').onDelete('CASCADE').onUpdate('RESTRICT')
      table.string('title').notNullable()
      table.decimal('price', 10, 2).defaultTo(9.5).checkPositive()
      table.enu('state', ['draft', 'printed'], { useNative: true }).defaultTo('draft')
      table.json('facts')
      table.unique(['person', 'title'], { indexName: 'one_title' })
    }).createView('printed', view => {
      view.columns(['title', 'author'])
      view.as(database.select('books.title', 'people.name').from('books').join('people', 'people.id', 'books.person').where('state', 'printed'))
    }),
    down: database => database.schema.dropView('printed').dropTable('books'),
  },
  '003_changes': {
    up: database => database.schema.alterTable('books', table => {
      table.string('subtitle', 40).nullable().after('title').comment('below the title')
      table.string('title', 120).notNullable().defaultTo('untitled').alter()
      table.renameColumn('facts', 'about')
      table.index(['state', 'price'], 'state_price')
    }),
    down: database => database.schema.alterTable('books', table => {
      table.dropIndex(['state', 'price'], 'state_price')
      table.renameColumn('about', 'facts')
      table.string('title').notNullable().alter()
      table.dropColumn('subtitle')
    }),
  },
}

const sourceOf = known => ({
  getMigrations: async () => Object.keys(known),
  getMigrationName: name => name,
  getMigration: async name => known[name],
})

const withFailure = {
  ...migrations,
  '004_fails': {
    async up(transaction) {
      await transaction('people').insert({ name: 'lost' })
      await transaction.raw('SELECT nothing')
    },
    async down() {},
  },
}

module.exports = async (database, connection) => {
  const migrate = (action, ...more) => database.migrate[action]({ migrationSource: sourceOf(migrations) }, ...more)
  const listed = async () => {
    const [done, pending] = await migrate('list')
    return [done.map(migration => migration.name), pending]
  }
  await step('list before', listed)
  for (const name of Object.keys(migrations)) {
    await step(`up ${name}`, () => migrate('up'))
    await definitions(connection, name)
  }
  await step('current version', () => migrate('currentVersion'))
  await step('list after', listed)
  await step('latest has nothing to do', () => migrate('latest'))
  await step('down', () => migrate('down'))
  await definitions(connection, 'down')
  await step('latest again', () => migrate('latest'))
  await step('rollback of a batch', () => migrate('rollback'))
  await step('rollback of every batch', () => migrate('rollback', true))
  await step('latest from nothing', () => migrate('latest'))
  await definitions(connection, 'latest')
  await step('a migration that fails', async () => {
    const error = await database.migrate.latest({ migrationSource: sourceOf(withFailure) }).catch(caught => caught.sqlMessage)
    return [error, await database('people').count({ people: '*' }), await database('knex_migrations_lock').select()]
  })
}
module.exports.rollbackAll = database => database.migrate.rollback({ migrationSource: sourceOf(migrations) }, true)
