// The query builder: joins, subqueries, common table expressions, groups, pages, inserts and updates.
const { Brackets } = require('typeorm')
const { step } = require('../node/steps')

const QUERIES = {
  'join and select': query => query('Order', 'o').innerJoinAndSelect('o.customer', 'c').select(['o.id', 'o.total', 'c.name']).where('c.name <> :name', { name: 'x' }).orderBy('o.id').getMany(),
  'left join on a condition': query => query('Customer', 'c').leftJoinAndSelect('c.orders', 'o', 'o.state = :state', { state: 'paid' }).select(['c.id', 'c.name', 'o.id']).orderBy('c.id').addOrderBy('o.id').getMany(),
  'map one': query => query('Customer', 'c').select(['c.id', 'c.name']).leftJoinAndMapOne('c.first', 'c.orders', 'f', 'f.id = (SELECT MIN(i.id) FROM orders i WHERE i.customerId = c.id)').orderBy('c.id').getMany(),
  'group and having': query => query('Order', 'o').select('o.state', 'state').addSelect('COUNT(*)', 'orders').addSelect('SUM(o.total)', 'total').groupBy('o.state').having('COUNT(*) > :least', { least: 0 }).orderBy('state').getRawMany(),
  'where in a subquery': query => query('Customer', 'c').select('c.name', 'name').where(outer => `c.id IN ${outer.subQuery().select('o.customerId').from('Order', 'o').where('o.total > 11').getQuery()}`).orderBy('c.name').getRawMany(),
  'from a subquery': (query, source) => source.createQueryBuilder().select('t.state', 'state').addSelect('MAX(t.total)', 'most').from(inner => inner.select('o.state', 'state').addSelect('o.total', 'total').from('Order', 'o'), 't').groupBy('t.state').orderBy('t.state').getRawMany(),
  'common table expression': (query, source) => source.createQueryBuilder().addCommonTableExpression(source.createQueryBuilder().select('o.customerId', 'customer').addSelect('SUM(o.total)', 'total').from('Order', 'o').groupBy('o.customerId'), 'totals').select('totals.*').from('totals', 'totals').orderBy('customer').getRawMany(),
  'pages over joins': query => query('Customer', 'c').leftJoinAndSelect('c.orders', 'o').select(['c.id', 'c.name', 'o.id']).orderBy('c.name', 'DESC').addOrderBy('o.id', 'ASC').skip(1).take(1).getManyAndCount(),
  'brackets': query => query('Order', 'o').select('o.id', 'id').where('o.state = :state', { state: 'open' }).andWhere(new Brackets(inner => inner.where('o.total > 12').orWhere('o.id = 1'))).orderBy('o.id').getRawMany(),
  'distinct and offset': query => query('Order', 'o').select('o.state', 'state').distinct(true).orderBy('o.state').offset(0).limit(5).getRawMany(),
  'index hint and timeout': query => query('Order', 'o').select('o.id', 'id').useIndex('PRIMARY').maxExecutionTime(2000).orderBy('o.id').limit(2).getRawMany(),
  'window function': query => query('Order', 'o').select('o.id', 'id').addSelect('RANK() OVER (PARTITION BY o.customerId ORDER BY o.total DESC)', 'place').orderBy('o.id').getRawMany(),
  'exists': query => query('Order', 'o').where('o.total > 1000').getExists(),
  'insert or update': (query, source) => source.createQueryBuilder().insert().into('Product').values([{ sku: 'fig', price: '3.00' }, { sku: 'lime', price: '1.00' }]).orUpdate(['price'], ['sku']).execute().then(result => result.raw.affectedRows),
  'insert or ignore': (query, source) => source.createQueryBuilder().insert().into('Product').values([{ sku: 'fig', price: '4.00' }, { sku: 'date', price: '1.00' }]).orIgnore().execute().then(result => result.raw.affectedRows),
  'update by an expression': (query, source) => source.createQueryBuilder().update('Product').set({ stock: () => 'stock + 2' }).where('price > :price', { price: 2 }).orderBy('sku').limit(2).execute().then(result => result.affected),
  'delete': (query, source) => source.createQueryBuilder().delete().from('Product').where('sku IN (:...skus)', { skus: ['lime', 'date'] }).execute().then(result => result.affected),
  'relation of': async (query, source) => {
    await source.createQueryBuilder().relation('Order', 'products').of(1).add('plum').catch(error => { if (error.errno !== 1062) throw error })
    await source.createQueryBuilder().relation('Order', 'products').of(1).remove('plum')
    return (await source.createQueryBuilder().relation('Order', 'products').of(1).loadMany()).map(product => product.sku).sort()
  },
}

module.exports = async source => {
  const query = (entity, alias) => source.getRepository(entity).createQueryBuilder(alias)
  for (const [name, run] of Object.entries(QUERIES)) await step(`builder: ${name}`, () => run(query, source))
  await step('builder: stream', async () => {
    const seen = []
    for await (const row of await query('Order', 'o').select('o.id', 'id').orderBy('o.id').stream()) seen.push(row.id)
    return seen
  })
}
