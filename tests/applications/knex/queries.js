// The query builder: joins, conditions, sets, common table expressions, windows, JSON, pages, streams.
const { refused, step } = require('../node/steps')

async function fill(database) {
  await step('batch insert', async () => {
    await database('people').insert([[1, 'Ann', 1950], [2, 'Bob', 1960], [3, 'Cid', 1970], [4, 'Dee', null]].map(([id, name, born]) => ({ id, name, born })))
    const books = []
    for (let number = 1; number <= 60; number++) {
      const about = { pages: number * 10, tags: number % 3 ? ['a', 'b'] : [], size: { high: number, wide: 2 } }
      books.push({ person: 1 + number % 3, title: `Book ${number}`, price: number * 1.25, state: number % 2 ? 'draft' : 'printed', about: JSON.stringify(about) })
    }
    await database.batchInsert('books', books, 25)
    return [await database('people').select('name', 'born').orderBy('id'), await database('books').count({ books: '*' })]
  })
}

const counted = query => query.count({ rows: '*' })

const joins = {
  'inner join': db => db('books as b').join('people as p', 'p.id', 'b.person').select('p.name', 'b.title').where('b.price', '>', 70).orderBy('b.id'),
  'left join with conditions': db => db('people as p').leftJoin('books as b', join => join.on('b.person', 'p.id').andOnVal('b.price', '<', 4).onIn('b.state', ['draft'])).select('p.name', 'b.title').orderBy(['p.id', 'b.id']),
  'right join': db => counted(db('books').rightJoin('people', 'people.id', 'books.person').whereNull('books.id')),
  'cross join': db => counted(db('people as a').crossJoin('people as b')),
  'join using': db => counted(db('books as a').join('books as b', join => join.using(['id', 'person']))),
  'derived table': db => db.from(db('books').select('person', db.raw('COUNT(*) AS books')).groupBy('person').as('counted')).join('people', 'people.id', 'counted.person').select('name', 'books').orderBy('name'),
  'a view': db => counted(db('printed').select('author').groupBy('author').orderBy('author')),
}

const conditions = {
  grouped: db => db('books').select('id').where(inner => inner.where('price', '<', 3).orWhere('price', '>', 74)).andWhere('state', 'draft').orderBy('id'),
  'in subquery': db => counted(db('books').whereIn('person', db('people').select('id').where('born', '>', 1955))),
  'in pairs': db => db('books').select('id').whereIn(['person', 'title'], [[2, 'Book 1'], [3, 'Book 2'], [1, 'Book 2']]).orderBy('id'),
  exists: db => db('people').select('name').whereExists(db('books').select(db.raw(1)).whereRaw('books.person = people.id').where('price', '>', 74)).orderBy('name'),
  'not between': db => counted(db('books').whereNotBetween('price', [5, 70])),
  ilike: db => counted(db('books').whereILike('title', 'BOOK 1%')),
  'json object': db => db('books').select('id').whereJsonObject('about', { pages: 30, tags: [], size: { high: 3, wide: 2 } }),
  'json path': db => counted(db('books').whereJsonPath('about', '$.size.high', '>', 55)),
  'json superset': db => counted(db('books').whereJsonSupersetOf('about', { tags: ['a'] })),
  'json subset': db => counted(db('books').whereJsonSubsetOf('about', { pages: 10, tags: ['a', 'b', 'c'], size: { high: 1, wide: 2 }, x: 1 })),
}

const groups = {
  having: db => db('books').select('person').sum({ worth: 'price' }).groupBy('person').having('worth', '>', 750).orderBy('person'),
  'having raw': db => counted(db('books').select('person').groupBy('person').havingRaw('AVG(price) BETWEEN ? AND ?', [1, 40]).orderBy('person')),
  rollup: db => db('books').select('person', 'state').sum({ worth: 'price' }).groupByRaw('person, state WITH ROLLUP'),
  distinct: db => db('books').distinct('person', 'state').orderBy(['person', 'state']),
  'count distinct': db => db('books').countDistinct({ people: 'person' }),
  aggregates: db => db('books').min({ least: 'price' }).max({ most: 'price' }).avg({ mean: 'price' }).sumDistinct({ sum: 'price' }).avgDistinct({ other: 'price' }),
  'case by raw': db => counted(db('books').select(db.raw('CASE WHEN price > ? THEN ? ELSE ? END AS dear', [40, 'yes', 'no'])).groupBy('dear').orderBy('dear')),
}

const pages = {
  first: db => db('books').orderBy('price', 'desc').first('title', 'price'),
  pluck: db => db('people').pluck('name').orderBy('name'),
  'limit and offset': db => db('books').select('id').orderBy([{ column: 'person', order: 'desc' }, 'id']).limit(3).offset(4),
  'order of nulls': db => db('people').select('name').orderBy('born', 'desc', 'last'),
}

const sets = {
  union: db => db('people').select('name as word').where('id', '<', 3).union([db('books').select('title').where('id', '<', 3), db('people').select('name')]).orderBy('word'),
  'union all of parts': db => db.unionAll([db('people').select('id').limit(1).orderBy('id'), db('people').select('id').limit(1).orderBy('id', 'desc')], true),
  intersect: db => db('books').select('person').where('price', '<', 10).intersect(db('books').select('person').where('price', '>', 72)).orderBy('person'),
  except: db => db('people').select('id').except(db('books').select('person')),
  with: db => db.with('dear', db('books').select('person', 'price').where('price', '>', 60)).select('person').max('price as price').from('dear').groupBy('person').orderBy('person'),
  'with recursive': db => db.withRecursive('numbers', ['n'], query => query.select('id').from('people').where('id', 1).unionAll(inner => inner.select(db.raw('n + 1')).from('numbers').where('n', '<', 5))).select('n').from('numbers'),
}

const computed = {
  row_number: db => db('books').select('person', 'title').rowNumber('place', window => window.partitionBy('person').orderBy('price', 'desc')).orderBy(['place', 'person']).limit(4),
  'rank and dense_rank': db => db('books').select('id').rank('rank_', 'person').denseRank('dense', query => query.orderBy('person')).orderBy('id').limit(4),
  'scalar subquery': db => db('people').select('name', db('books').count('*').whereRaw('person = people.id').as('books')).orderBy('name'),
  'json extract': db => db('books').jsonExtract([['about', '$.pages', 'pages'], ['about', '$.size.high', 'high']]).orderBy('id').limit(3),
  'json set': db => db('books').jsonSet('about', '$.pages', 7, 'changed').orderBy('id').limit(2),
  'json insert': db => db('books').jsonInsert('about', '$.more', '1', 'more').orderBy('id').limit(2),
  'json remove': db => db('books').jsonRemove('about', '$.size', 'less').orderBy('id').limit(2),
  dates: db => db.select(db.raw("DATE_FORMAT('2024-02-29 10:11:12', '%Y/%m/%d') AS day, TIMESTAMPDIFF(DAY, '2024-01-01', '2024-03-01') AS days")),
}

module.exports = async database => {
  await fill(database)
  for (const [kind, queries] of Object.entries({ joins, conditions, groups, pages, sets, computed })) {
    for (const [name, query] of Object.entries(queries)) await step(`${kind}: ${name}`, () => query(database))
  }
  // Knex asks for the collation utf8_bin, which MySQL refuses for these columns.
  await step('conditions: like', () => refused(() => database('books').whereLike('title', 'Book 1%')))
  await step('stream', async () => {
    let sum = 0
    for await (const row of database('books').select('id').stream()) sum += Number(row.id)
    return sum
  })
  await step('nothing found', async () => [await database('books').where({ id: 0 }).first(), await database('books').where({ id: 0 })])
  await step('tables of a joined row', () => database('books').select('people.id', 'books.id').join('people', 'people.id', 'books.person').orderBy('books.id').limit(1).options({ nestTables: true }))
}
