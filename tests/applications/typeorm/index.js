// TypeORM: entities synchronised twice, migrations, the query runner's view of the schema, repositories, the query builder.
const { DataSource } = require('typeorm')
const { definitions, program, server, step } = require('../node/steps')
const { entities } = require('./entities')

const SCHEMA = 'applications_typeorm'

program(SCHEMA, async connection => {
  const source = new DataSource({ type: 'mysql', connectorPackage: 'mysql2', ...server, username: server.user, database: SCHEMA, entities,
    migrations: require('./migrations').migrations, timezone: 'Z', bigNumberStrings: true, logging: false, supportBigNumbers: true, isolateWhereStatements: true })
  await source.initialize()
  const difference = async () => (await source.driver.createSchemaBuilder().log()).upQueries.map(query => query.query)
  await step('what synchronize would do', difference)
  await step('synchronize', () => source.synchronize())
  await definitions(connection, 'synchronised')
  await step('what a second synchronize would do', difference)
  await step('synchronize again', () => source.synchronize())
  await require('./runner')(source)
  await require('./values')(source)
  await require('./relations')(source)
  await require('./builder')(source)
  await require('./transactions')(source)
  await require('./trees')(source)
  await step('synchronize after dropping', () => source.synchronize(true))
  await step('nothing is different then', difference)
  await require('./migrations').run(source, connection)
  await step('drop the schema', () => source.dropDatabase())
  await step('tables that are left', async () => (await connection.query('SHOW TABLES'))[0].map(Object.values))
  await source.destroy()
})
