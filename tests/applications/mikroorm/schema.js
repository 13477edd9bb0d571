// The schema generator: what it makes, what it finds different, what the entity generator reads of it.
const { definitions, step } = require('../node/steps')

module.exports = async (orm, connection) => {
  await step('what createSchema would do', () => orm.schema.getCreateSchemaSQL())
  await step('createSchema', () => orm.schema.createSchema())
  await definitions(connection, 'created')
  await step('what updateSchema would do', () => orm.schema.getUpdateSchemaSQL())
  await step('ensureDatabase', () => orm.schema.ensureDatabase())
  for (const [name, change] of Object.entries({
    'a column less': 'ALTER TABLE course DROP COLUMN deleted', 'a column more': 'ALTER TABLE course ADD surplus INT', 'another type': 'ALTER TABLE course MODIFY hours BIGINT NULL', 'another default': 'ALTER TABLE course ALTER price SET DEFAULT 3',
    'an index less': 'DROP INDEX person_name ON person', 'a key less': 'ALTER TABLE course DROP FOREIGN KEY course_teacher_id_foreign', 'a check less': 'ALTER TABLE course DROP CHECK course_price', 'another member': "ALTER TABLE every_type MODIFY choice ENUM('a','b') NOT NULL DEFAULT 'b'",
    'another comment': "ALTER TABLE every_type COMMENT 'other'", 'another expression': "ALTER TABLE every_type MODIFY total DECIMAL(20,6) AS (exact * 3) STORED",
  })) {
    await step(`difference of ${name}`, async () => {
      await connection.query(change)
      const statements = await orm.schema.getUpdateSchemaSQL({ wrap: false })
      await orm.schema.updateSchema()
      return [statements, await orm.schema.getUpdateSchemaSQL({ wrap: false })]
    })
  }
  await definitions(connection, 'updated')
  await step('generate entities', async () => (await orm.entityGenerator.generate({ save: false, entitySchema: true, identifiedReferences: false })).sort())
  await step('refreshDatabase', () => orm.schema.refreshDatabase())
}
