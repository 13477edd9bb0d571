// Migrations: run one by one, taken back, and what is listed of them.
const { definitions, step } = require('../node/steps')

class Members1700000000001 {
  async up(runner) {
    await runner.query("CREATE TABLE `members` (`id` int NOT NULL AUTO_INCREMENT, `name` varchar(40) NOT NULL COMMENT 'whole', `born` date NULL, UNIQUE INDEX `one_name` (`name`), PRIMARY KEY (`id`)) ENGINE=InnoDB")
  }
  async down(runner) {
    await runner.query('DROP TABLE `members`')
  }
}

class Cards1700000000002 {
  async up(runner) {
    await runner.query("CREATE TABLE `cards` (`id` varchar(36) NOT NULL DEFAULT (uuid()), `member` int NULL, `kind` enum ('gold', 'plain') NOT NULL DEFAULT 'plain', `data` json NOT NULL DEFAULT ('{}'), `madeAt` datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), PRIMARY KEY (`id`)) ENGINE=InnoDB")
    await runner.query('ALTER TABLE `cards` ADD CONSTRAINT `card_member` FOREIGN KEY (`member`) REFERENCES `members`(`id`) ON DELETE CASCADE ON UPDATE NO ACTION')
  }
  async down(runner) {
    await runner.query('ALTER TABLE `cards` DROP FOREIGN KEY `card_member`')
    await runner.query('DROP TABLE `cards`')
  }
}

class Longer1700000000003 {
  async up(runner) {
    await runner.query('ALTER TABLE `members` MODIFY `name` varchar(80) NOT NULL, ADD `mail` varchar(60) NULL AFTER `name`')
  }
  async down(runner) {
    await runner.query('ALTER TABLE `members` DROP COLUMN `mail`, MODIFY `name` varchar(40) NOT NULL')
  }
}

module.exports = {
  migrations: [Members1700000000001, Cards1700000000002, Longer1700000000003],
  async run(source, connection) {
    await step('migrations that are left', () => source.showMigrations())
    await step('run migrations', async () => (await source.runMigrations({ transaction: 'each' })).map(migration => migration.name))
    await step('run migrations again', async () => (await source.runMigrations()).map(migration => migration.name))
    await step('rows of migrations', () => source.query('SELECT * FROM migrations ORDER BY id'))
    for (const table of ['members', 'cards']) await step(`migrated ${table}`, async () => Object.values((await connection.query(`SHOW CREATE TABLE ${table}`))[0][0])[1])
    await step('what synchronize would do to what it does not know', async () => (await source.driver.createSchemaBuilder().log()).upQueries.map(query => query.query))
    for (const migration of ['Longer', 'Cards', 'Members']) await step(`undo ${migration}`, () => source.undoLastMigration())
    await definitions(connection, 'undone')
  },
}
