// Repositories: cascades, relations, conditions, pages, upserts, soft deletes.
const { Between, Equal, ILike, In, IsNull, LessThan, Like, MoreThan, Not, Or, Raw } = require('typeorm')
const { refused, step } = require('../node/steps')

async function fill(source) {
  await step('save with cascades', async () => {
    const products = ['apple', 'pear', 'plum', 'fig'].map((sku, index) => ({ sku, price: `${index + 1}.25`, stock: 10 * index }))
    const customers = ['Ann', 'Bob', 'Cid'].map((name, index) => ({
      name, email: `${name.toLowerCase()}@example.org`, profile: index < 2 ? { about: { likes: [name, index], vip: index === 0 } } : null,
      orders: Array.from({ length: index * 2 + 1 }, (_, order) => ({ placed: `2024-0${1 + index}-1${order}`, state: order % 2 ? 'paid' : 'open', total: `${10 * index + order}.50`, products: products.slice(order % 4) })),
    }))
    await source.getRepository('Product').save(products)
    const saved = await source.getRepository('Customer').save(customers)
    return saved.map(({ id, name, version, orders }) => [id, name, version, orders.map(order => order.id)])
  })
}

async function finds(source) {
  const [customers, orders, products] = ['Customer', 'Order', 'Product'].map(name => source.getRepository(name))
  const named = async options => (await customers.find({ select: { name: true }, order: { name: 'ASC' }, ...options })).map(customer => customer.name)
  await step('relations', () => customers.find({ select: { id: true, name: true, profile: { about: true }, orders: { id: true, total: true, products: { sku: true } } }, relations: { profile: true, orders: { products: true } }, order: { name: 'ASC', orders: { id: 'ASC', products: { sku: 'ASC' } } } }))
  await step('relations by queries of their own', () => orders.find({ relationLoadStrategy: 'query', select: { id: true, products: { sku: true } }, relations: { products: true }, order: { id: 'ASC' }, take: 2 }))
  await step('pages over relations', async () => {
    const [found, count] = await customers.findAndCount({ select: { id: true, name: true, orders: { id: true } }, relations: { orders: true }, order: { name: 'DESC', orders: { id: 'DESC' } }, skip: 1, take: 1 })
    return [found, count]
  })
  const conditions = {
    equal: { name: Equal('Ann') }, not: { name: Not('Ann') }, in: { name: In(['Ann', 'Cid']) }, like: { email: Like('%@EXAMPLE.org') }, ilike: { name: ILike('a%') }, null: { profile: IsNull() },
    relation: { orders: { total: MoreThan(12) } }, or: [{ name: 'Ann' }, { orders: { state: 'paid', total: LessThan(12) } }], orOperator: { name: Or(Equal('Ann'), Like('B%')) },
    between: { orders: { placed: Between('2024-02-01', '2024-02-28') } }, raw: { profile: { about: Raw(alias => `JSON_EXTRACT(${alias}, '$.vip') = true`) } },
  }
  for (const [name, where] of Object.entries(conditions)) await step(`where ${name}`, () => named({ where }))
  await step('aggregates', async () => [await orders.count(), await orders.sum('total'), await orders.average('total'), await orders.minimum('total', { state: 'paid' }), await orders.maximum('total'), await orders.existsBy({ state: 'paid' }), await products.exists({ where: { sku: 'none' } })])
  await step('a view', () => source.getRepository('Turnover').find({ order: { customer: 'ASC' } }))
}

async function changes(source) {
  const [customers, orders, products] = ['Customer', 'Order', 'Product'].map(name => source.getRepository(name))
  await step('save changes only what changed', async () => {
    const customer = await customers.findOneByOrFail({ name: 'Ann' })
    customer.name = 'Anna'
    return [(await customers.save(customer)).version, (await customers.save(customer)).version]
  })
  await step('replace a relation', async () => {
    const order = await orders.findOneOrFail({ where: { id: 2 }, relations: { products: true } })
    order.products = await products.findBy({ sku: In(['fig', 'plum']) })
    await orders.save(order)
    return source.query('SELECT * FROM order_products WHERE ordersId = 2 ORDER BY productsSku')
  })
  await step('upsert', async () => {
    await products.upsert([{ sku: 'fig', price: '9.00', stock: 1 }, { sku: 'kiwi', price: '2.00', stock: 2 }], ['sku'])
    return products.find({ order: { sku: 'ASC' } })
  })
  await step('upsert of nothing new', () => products.upsert({ sku: 'fig', price: '9.00', stock: 1 }, { conflictPaths: ['sku'], skipUpdateIfNoValuesChanged: true }).then(result => result.raw.affectedRows))
  await step('update, increment, decrement', async () => {
    const updated = await products.update({ sku: 'fig' }, { stock: 5 })
    await products.increment({ sku: 'fig' }, 'stock', 3)
    await products.decrement({ sku: 'fig' }, 'stock', 1)
    return [updated.affected, (await products.findOneBy({ sku: 'fig' })).stock]
  })
  await step('soft delete and restore', async () => {
    await customers.softDelete({ name: 'Bob' })
    const counts = [await customers.count(), await customers.count({ withDeleted: true })]
    await customers.restore({ name: 'Bob' })
    return [...counts, await customers.count()]
  })
  await step('the unique key holds', () => refused(() => customers.insert({ name: 'x', email: 'bob@example.org' })))
  await step('the foreign key holds', () => refused(() => source.query("INSERT INTO orders (placed, customerId) VALUES ('2024-01-01', 999)")))
  await step('delete cascades', async () => {
    const before = await orders.count()
    await customers.delete({ name: 'Cid' })
    return [before, await orders.count(), await source.query('SELECT COUNT(*) AS pairs FROM order_products')]
  })
  await step('remove an entity', async () => (await products.remove(await products.findOneByOrFail({ sku: 'kiwi' }))).price)
}

module.exports = async source => {
  await fill(source)
  await finds(source)
  await changes(source)
}
