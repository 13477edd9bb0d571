// Transactions: savepoints, isolation levels, locks with NOWAIT and SKIP LOCKED, and what a rollback takes back.
const { refused, step } = require('../node/steps')

module.exports = async database => {
  const names = async (from = database) => (await from('people').select('name').orderBy('name')).map(person => person.name)
  await step('rollback by an error', async () => {
    await database.transaction(async transaction => {
      await transaction('people').insert({ name: 'lost' })
      throw new Error('no')
    }).catch(() => {})
    return names()
  })
  await step('savepoints', async () => {
    await database.transaction(async outer => {
      await outer('people').insert({ name: 'outer' })
      await outer.transaction(async inner => {
        await inner('people').insert({ name: 'inner' })
        throw new Error('no')
      }).catch(() => {})
      await outer.savepoint(async inner => inner('people').insert({ name: 'second' }))
    })
    return names()
  })
  for (const isolationLevel of ['read uncommitted', 'read committed', 'repeatable read']) {
    await step(`read at ${isolationLevel}`, async () => {
      const reader = await database.transaction(undefined, { isolationLevel })
      const before = (await names(reader)).length
      const seen = await database.transaction(async writer => {
        await writer('people').insert({ name: isolationLevel })
        return (await names(reader)).length - before
      })
      const after = (await names(reader)).length - before
      await reader.commit()
      return [seen, after]
    })
  }
  await step('read only', async () => {
    const reader = await database.transaction(undefined, { readOnly: true })
    const refusal = await refused(() => reader('people').insert({ name: 'none' }))
    await reader.rollback()
    return refusal
  })
  await step('locks', async () => {
    const [holder, other] = [await database.transaction(), await database.transaction()]
    try {
      await holder('people').where({ name: 'Ann' }).forUpdate()
      return [await other('people').pluck('name').orderBy('id').forUpdate().skipLocked(), await refused(() => other('people').forShare().noWait())]
    } finally {
      await other.rollback()
      await holder.rollback()
    }
  })
}
