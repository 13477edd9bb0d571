// Sequelize 6: migrations by Umzug and the query interface, synchronised models, queries, transactions.
const { Sequelize } = require('sequelize')
const { definitions, program, server, step } = require('../node/steps')
const defineModels = require('./models')

const SCHEMA = 'applications_sequelize'

program(SCHEMA, async connection => {
  const sequelize = new Sequelize(SCHEMA, server.user, server.password, { ...server, dialect: 'mysql', logging: false, timezone: '+00:00' })
  await require('./migrations')(sequelize, connection)
  const models = defineModels(sequelize)
  await step('sync', async () => { await sequelize.sync() })
  await definitions(connection, 'synchronised')
  for (const turn of ['first', 'second']) {
    await step(`sync alter, ${turn}`, async () => {
      const statements = []
      await sequelize.sync({ alter: true, logging: statement => statements.push(statement) })
      return statements
    })
  }
  await definitions(connection, 'altered')
  await require('./values')(models)
  await require('./queries')(sequelize, models)
  await require('./transactions')(sequelize, models)
  await step('sync force', async () => { await sequelize.sync({ force: true }) })
  await step('drop', async () => { await sequelize.drop() })
  await step('tables that are left', async () => (await connection.query('SHOW TABLES'))[0].map(Object.values))
  await sequelize.close()
})
