// Migrations: three that are given, run one by one and taken back, and one that the migrator writes of a difference.
const { mkdtempSync, readFileSync } = require('fs')
const { tmpdir } = require('os')
const { join } = require('path')
const { Migration } = require('@mikro-orm/migrations')
const { definitions, step } = require('../node/steps')

class M1Loans extends Migration {
  async up() {
    this.addSql("create table `loan` (`id` int unsigned not null auto_increment primary key, `student_id` int unsigned null, `lent` datetime not null default current_timestamp, `state` enum('out', 'back') not null default 'out')")
  }
  async down() {
    this.addSql('drop table `loan`')
  }
}

class M2Keys extends Migration {
  async up() {
    this.addSql('alter table `loan` add constraint `loan_student` foreign key (`student_id`) references `person` (`id`) on delete cascade')
    this.addSql('alter table `loan` add index `loan_state`(`state`, `lent` desc), add `note` varchar(50) not null default \'none\' after `state`')
  }
  async down() {
    this.addSql('alter table `loan` drop foreign key `loan_student`')
    this.addSql('alter table `loan` drop index `loan_state`, drop column `note`')
  }
}

class M3Rows extends Migration {
  async up() {
    await this.execute("insert into `loan` (`student_id`) select min(id) from person where kind = 'student'")
  }
  async down() {
    this.addSql('delete from `loan`')
  }
}

const path = mkdtempSync(join(tmpdir(), 'mikroorm-'))

async function run(orm, connection) {
  const named = found => found.map(migration => migration.name)
  const { migrator } = orm
  await step('migrations pending', async () => named(await migrator.getPendingMigrations()))
  for (const name of ['M1Loans', 'M2Keys', 'M3Rows']) await step(`migrate ${name}`, async () => named(await migrator.up({ to: name })))
  await step('migrated table', async () => Object.values((await connection.query('SHOW CREATE TABLE loan'))[0][0])[1])
  await step('migrations executed', async () => named(await migrator.getExecutedMigrations()))
  await step('rows that a migration wrote', () => orm.em.fork().execute('select count(*) as loans, min(note) as note from loan'))
  await step('a migration of a difference', async () => {
    const { diff, code } = await migrator.createMigration(path)
    return [diff, code.replace(/Migration\d+/g, 'Migration')]
  })
  await step('take back two', async () => named(await migrator.down({ to: 'M1Loans' })))
  await step('take back all', async () => named(await migrator.down({ to: 0 })))
  await definitions(connection, 'migrated back')
}

module.exports = {
  options: { path, emit: 'js', snapshot: false, silent: true, migrationsList: [M1Loans, M2Keys, M3Rows].map(migration => ({ name: migration.name, class: migration })) },
  run,
}
