// MikroORM: the schema generator and its differences, migrations, the entity generator, the unit of work, queries, transactions.
const { MikroORM } = require('@mikro-orm/mysql')
const { Migrator } = require('@mikro-orm/migrations')
const { EntityGenerator } = require('@mikro-orm/entity-generator')
const { program, server, step } = require('../node/steps')
const { entities } = require('./entities')

const SCHEMA = 'applications_mikroorm'

program(SCHEMA, async connection => {
  const orm = await MikroORM.init({ ...server, dbName: SCHEMA, entities, extensions: [Migrator, EntityGenerator], timezone: 'Z', allowGlobalContext: true,
    discovery: { warnWhenNoEntities: false }, migrations: require('./migrations').options, debug: false })
  await require('./schema')(orm, connection)
  await require('./values')(orm)
  await require('./work')(orm)
  await require('./queries')(orm)
  await require('./transactions')(orm)
  await require('./migrations').run(orm, connection)
  await step('drop the schema', () => orm.schema.dropSchema({ dropMigrationsTable: true }))
  await step('tables that are left', async () => (await connection.query('SHOW TABLES'))[0].map(Object.values))
  await orm.close(true)
})
