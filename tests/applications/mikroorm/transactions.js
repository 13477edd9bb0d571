// Transactions: nested by savepoints, isolation levels, locks, and events around a flush that fails.
const { IsolationLevel, LockMode } = require('@mikro-orm/mysql')
const { refused, step } = require('../node/steps')

module.exports = async orm => {
  const rooms = async em => (await em.fork({ keepTransactionContext: true }).find('Room', { building: 'T' }, { orderBy: { number: 1 } })).map(room => room.number)
  const add = (em, number) => em.insert('Room', { building: 'T', number })
  await step('rollback by an error', async () => {
    await orm.em.fork().transactional(async em => { await add(em, 1); throw new Error('no') }).catch(() => {})
    return rooms(orm.em)
  })
  await step('nested', async () => {
    await orm.em.fork().transactional(async outer => {
      await add(outer, 2)
      await outer.transactional(async inner => { await add(inner, 3); throw new Error('no') }).catch(() => {})
      await outer.transactional(async inner => add(inner, 4))
    })
    return rooms(orm.em)
  })
  let number = 10
  for (const isolationLevel of [IsolationLevel.READ_UNCOMMITTED, IsolationLevel.READ_COMMITTED, IsolationLevel.REPEATABLE_READ, IsolationLevel.SNAPSHOT]) {
    await step(`read at ${isolationLevel}`, () => orm.em.fork().transactional(async reader => {
      const before = (await rooms(reader)).length
      const during = await orm.em.fork().transactional(async writer => {
        await add(writer, number++)
        return (await rooms(reader)).length - before
      })
      return [during, (await rooms(reader)).length - before]
    }, { isolationLevel }).catch(error => `${error.errno} ${error.sqlMessage}`))
  }
  await step('read only', () => refused(() => orm.em.fork().transactional(em => add(em, 99), { readOnly: true })))
  await step('locks', () => orm.em.fork().transactional(async holder => {
    await holder.findOneOrFail('Room', { building: 'T', number: 2 }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    const free = await orm.em.fork().transactional(em => em.find('Room', { building: 'T' }, { orderBy: { number: 1 }, lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE }))
    const refusal = await refused(() => orm.em.fork().transactional(em => em.find('Room', { building: 'T' }, { lockMode: LockMode.PESSIMISTIC_READ_OR_FAIL })))
    return [free.map(room => room.number), refusal]
  }))
}
