// Knex: migrations and their rollback, the schema builder and what it reads back, the query builder, transactions.
const knex = require('knex')
const { definitions, program, server, step } = require('../node/steps')

const SCHEMA = 'applications_knex'

program(SCHEMA, async connection => {
  const database = knex({ client: 'mysql2', connection: { ...server, database: SCHEMA, timezone: 'Z' }, pool: { min: 0, max: 4 }, log: { warn() {}, error() {} } })
  await require('./migrations')(database, connection)
  await require('./schema')(database, connection)
  await require('./queries')(database)
  await require('./changes')(database)
  await require('./transactions')(database)
  await definitions(connection, 'at the end')
  await step('rollback of all', async () => require('./migrations').rollbackAll(database))
  await step('tables that are left', async () => (await connection.query('SHOW TABLES'))[0].map(Object.values))
  await database.destroy()
})
