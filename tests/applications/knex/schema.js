// The schema builder's types, keys, checks and changes, and what it reads of tables and columns.
const { definitions, refused, step } = require('../node/steps')

const SIMPLE_TYPES = ['tinyint', 'smallint', 'mediumint', 'integer', 'bigInteger', 'boolean', 'date', 'text', 'json', 'jsonb', 'uuid']

function everyType(database, table) {
  table.increments('id')
  for (const type of SIMPLE_TYPES) table[type](`a_${type.toLowerCase()}`)
  table.text('a_mediumtext', 'mediumtext')
  table.text('a_longtext', 'longtext')
  table.float('a_float', 8, 2)
  table.double('a_double')
  table.decimal('a_decimal', 14, 3).unsigned()
  table.string('a_string', 20).collate('utf8mb4_bin').defaultTo('it\'s "so"')
  table.binary('a_binary', 16)
  table.binary('a_blob')
  table.time('a_time', { precision: 3 })
  table.datetime('a_datetime', { precision: 6 }).defaultTo(database.fn.now(6))
  table.timestamp('a_timestamp').notNullable().defaultTo(database.raw('CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP'))
  table.enum('an_enum', ['x', 'y', 'z z']).notNullable().defaultTo('y')
  table.specificType('a_set', "SET('m', 'n')")
  table.specificType('a_year', 'YEAR')
  table.specificType('some_bits', 'BIT(9)')
  table.specificType('a_char', 'CHAR(3) CHARACTER SET latin1').comment('three letters')
  table.specificType('a_sum', 'DECIMAL(15,3) AS (a_decimal + a_integer) STORED')
  table.specificType('a_name', "VARCHAR(60) AS (json_unquote(json_extract(a_json, '$.name'))) VIRTUAL").index('by_name')
}

function checked(table) {
  table.integer('positive').checkPositive('is_positive')
  table.integer('negative').checkNegative()
  table.string('listed', 10).checkIn(['a', 'b'])
  table.string('unlisted', 10).checkNotIn(['c'])
  table.integer('ranged').checkBetween([1, 9])
  table.integer('twice').checkBetween([[1, 3], [7, 9]])
  table.string('long', 10).checkLength('>', 2)
  table.string('shaped', 10).checkRegex('^[a-z]+$')
  table.check('?? < ??', ['positive', 'ranged'], 'positive_below_ranged')
}

const GOOD = { positive: 1, negative: -1, listed: 'a', unlisted: 'd', ranged: 5, twice: 8, long: 'long', shaped: 'abc' }
const BAD = { positive: 0, negative: 1, listed: 'z', unlisted: 'c', ranged: 10, twice: 5, long: 'l', shaped: 'A1' }

async function build(database) {
  await step('create every type', async () => { await database.schema.createTable('every_type', table => everyType(database, table)) })
  await step('create like', async () => { await database.schema.createTableLike('every_type_too', 'every_type', table => table.integer('more')) })
  await step('create checks', async () => { await database.schema.createTable('checked', checked) })
  await step('composite keys', async () => {
    await database.schema.createTable('pairs', table => {
      table.integer('one').unsigned()
      table.integer('two').unsigned()
      table.primary(['one', 'two'])
      table.foreign('one', 'pair_person').references('people.id').onDelete('cascade')
      table.engine('InnoDB')
      table.charset('utf8mb4')
      table.collate('utf8mb4_unicode_ci')
    })
    await database.schema.createTable('triples', table => {
      table.increments()
      table.integer('one').unsigned()
      table.integer('two').unsigned()
      table.foreign(['one', 'two']).references(['one', 'two']).inTable('pairs').onUpdate('restrict').onDelete('set null')
    })
  })
}

async function read(database) {
  const { schema } = database
  await step('columnInfo', async () => Object.entries(await database('every_type').columnInfo()).sort())
  await step('columnInfo of a column', () => database('every_type').columnInfo('a_decimal'))
  await step('hasTable', async () => [await database.schema.hasTable('checked'), await database.schema.hasTable('nothing')])
  await step('hasColumn', async () => [await schema.hasColumn('checked', 'ranged'), await database.schema.hasColumn('checked', 'x')])
}

async function alter(database) {
  await step('alter keys', async () => {
    await database.schema.alterTable('pairs', table => {
      table.dropForeign('one', 'pair_person')
      table.string('note', 10).first()
      table.timestamps(false, true, true)
    })
  })
  await step('alter nullability', async () => {
    await database.schema.alterTable('pairs', table => table.dropNullable('note'))
    await database.schema.alterTable('pairs', table => table.setNullable('note'))
  })
  await step('alter checks', async () => {
    await database.schema.alterTable('checked', table => table.dropChecks('is_positive', 'positive_below_ranged'))
    await database.schema.alterTable('checked', table => table.check('positive + ranged > 3', {}, 'sum_above'))
  })
  await step('drop a column that its check reads', () => database.schema.alterTable('checked', table => table.dropColumn('shaped')))
  await step('rename a column that a check reads', () => refused(() => database.schema.alterTable('checked', table => table.renameColumn('long', 'length'))))
  await step('alter a column that a generated one reads', () => database.schema.alterTable('every_type', table => {
    table.bigInteger('a_integer').unsigned().notNullable().defaultTo(0).comment('now big').alter()
  }))
  await step('alter indexes', async () => {
    await database.schema.alterTable('every_type', table => {
      table.dropIndex([], 'by_name')
      table.unique('a_uuid', { indexName: 'one_uuid' })
      table.index([database.raw('a_text(20)')], 'text_beginning')
    })
  })
  await step('primary key dropped', async () => { await database.schema.alterTable('every_type_too', table => { table.integer('id').alter(); table.dropPrimary() }) })
  await step('rename a table', async () => { await database.schema.renameTable('pairs', 'couples') })
  await step('replace a view', async () => {
    await database.schema.createViewOrReplace('born', view => view.as(database('people').select('name').where('born', '>', 1900)))
    await database.schema.createViewOrReplace('born', view => {
      view.columns(['name', 'age'])
      view.as(database('people').select('name', database.raw('2024 - born')).whereNotNull('born'))
    })
  })
}

module.exports = async (database, connection) => {
  await build(database)
  await definitions(connection, 'built')
  await read(database)
  await step('checks take what is right', () => database('checked').insert(GOOD))
  for (const [column, value] of Object.entries(BAD)) await step(`check of ${column}`, () => refused(() => database('checked').insert({ ...GOOD, [column]: value })))
  await alter(database)
  await definitions(connection, 'altered')
  await step('drop what was built', async () => {
    for (const table of ['triples', 'couples', 'checked', 'every_type_too', 'every_type']) await database.schema.dropTable(table)
    await database.schema.dropViewIfExists('born')
  })
}
