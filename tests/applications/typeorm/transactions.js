// Transactions: nested ones by savepoints, isolation levels, pessimistic and optimistic locks.
const { refused, step } = require('../node/steps')

module.exports = async source => {
  const skus = async (manager = source.manager) => (await manager.find('Product', { order: { sku: 'ASC' } })).map(product => product.sku)
  const add = (manager, sku) => manager.insert('Product', { sku, price: '1.00' })
  await step('rollback by an error', async () => {
    await source.transaction(async manager => {
      await add(manager, 'lost')
      throw new Error('no')
    }).catch(() => {})
    return skus()
  })
  await step('nested transactions', async () => {
    await source.transaction(async outer => {
      await add(outer, 'outer')
      await outer.transaction(async inner => {
        await add(inner, 'inner')
        throw new Error('no')
      }).catch(() => {})
      await outer.transaction(async inner => add(inner, 'second'))
    })
    return skus()
  })
  for (const level of ['READ UNCOMMITTED', 'READ COMMITTED', 'REPEATABLE READ']) {
    await step(`read at ${level}`, () => source.transaction(level, async reader => {
      const before = (await skus(reader)).length
      const during = await source.transaction(async writer => {
        await add(writer, level)
        return (await skus(reader)).length - before
      })
      return [during, (await skus(reader)).length - before]
    }))
  }
  await step('locks', () => source.transaction(async holder => {
    await holder.findOne('Product', { where: { sku: 'fig' }, lock: { mode: 'pessimistic_write' } })
    const free = await source.transaction(other => other.find('Product', { order: { sku: 'ASC' }, lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' } }))
    const refusal = await refused(() => source.transaction(other => other.find('Product', { lock: { mode: 'pessimistic_read', onLocked: 'nowait' } })))
    return [free.map(product => product.sku), refusal]
  }))
  await step('optimistic lock', async () => {
    const find = version => source.getRepository('Customer').findOne({ where: { name: 'Bob' }, lock: { mode: 'optimistic', version } })
    const { version } = await source.getRepository('Customer').findOneByOrFail({ name: 'Bob' })
    return [(await find(version)).name, await find(version + 1).catch(error => error.name)]
  })
}
