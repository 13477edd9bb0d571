// Transactions: commit, rollback, savepoints, isolation levels and locks.
const { Transaction } = require('sequelize')
const { refused, step } = require('../node/steps')

module.exports = async (sequelize, { Author, Tag }) => {
  const words = async options => (await Tag.findAll({ order: ['word'], raw: true, ...options })).map(tag => tag.word)
  await step('rollback of a managed transaction', async () => {
    await sequelize.transaction(async transaction => {
      await Tag.create({ word: 'lost' }, { transaction })
      throw new Error('no')
    }).catch(() => {})
    return words()
  })
  await step('savepoints', async () => {
    await sequelize.transaction(async transaction => {
      await Tag.create({ word: 'kept' }, { transaction })
      const inner = await sequelize.transaction({ transaction })
      await Tag.create({ word: 'inner' }, { transaction: inner })
      await inner.rollback()
      const second = await sequelize.transaction({ transaction })
      await Tag.create({ word: 'second' }, { transaction: second })
      await second.commit()
    })
    return words()
  })
  for (const level of Object.values(Transaction.ISOLATION_LEVELS)) {
    await step(`read at ${level}`, async () => {
      const reader = await sequelize.transaction({ isolationLevel: level })
      const before = (await words({ transaction: reader })).length
      const written = level === 'SERIALIZABLE' ? 'waits' : await sequelize.transaction(async transaction => {
        await Tag.create({ word: `at ${level}` }, { transaction })
        return (await words({ transaction: reader })).length - before
      })
      const after = (await words({ transaction: reader })).length - before
      await reader.commit()
      return [written, after]
    })
  }
  await step('locks', async () => {
    const [holder, other] = [await sequelize.transaction(), await sequelize.transaction()]
    const ask = text => sequelize.query(text, { transaction: other, raw: true })
    try {
      await Author.findAll({ where: { name: 'Ann' }, lock: holder.LOCK.UPDATE, transaction: holder })
      await ask('SET innodb_lock_wait_timeout = 1')
      const [free] = await ask('SELECT name FROM authors ORDER BY id FOR UPDATE SKIP LOCKED')
      return [free.map(author => author.name), await refused(() => ask('SELECT name FROM authors FOR SHARE NOWAIT')),
        await refused(() => Author.findAll({ lock: other.LOCK.SHARE, transaction: other }))]
    } finally {
      await other.rollback()
      await holder.rollback()
    }
  })
  await step('after a commit', async () => {
    const heard = []
    await sequelize.transaction(async transaction => { transaction.afterCommit(() => heard.push('committed')) })
    return heard
  })
}
