// Inserts, upserts, updates and deletes, also over joins.
const { refused, step } = require('../node/steps')

async function inserts(database) {
  const people = () => database('people').select('name', 'born').orderBy('name')
  await step('insert gives the first id', async () => Number.isInteger((await database('people').insert([{ name: 'Eve' }, { name: 'Fay', born: 1990 }]))[0]))
  await step('insert from a query', async () => {
    await database(database.raw('people (name, born)')).insert(database.select(database.raw("CONCAT(name, ' II'), born + 30")).from('people').where('id', 1))
    return people()
  })
  await step('on conflict ignore', async () => { await database('people').insert({ name: 'Ann', born: 1 }).onConflict('name').ignore(); return people() })
  await step('on conflict merge', async () => { await database('people').insert([{ name: 'Ann', born: 1951 }, { name: 'Gus', born: 2000 }]).onConflict().merge(); return people() })
  await step('on conflict merge of columns', async () => { await database('people').insert({ name: 'Bob', born: 1 }).onConflict('name').merge({ born: database.raw('people.born + 1') }); return people() })
  await step('duplicate', () => refused(() => database('people').insert({ name: 'Ann' })))
  await step('missing parent', () => refused(() => database('books').insert({ person: 4000, title: 'none' })))
  await step('unknown column', () => refused(() => database('people').insert({ nothing: 1 })))
}

async function updates(database) {
  const dear = () => database('books').where('price', '>', 70)
  await step('value out of range', () => refused(() => database('people').where({ id: 1 }).update({ born: -1 })))
  await step('update counts rows', async () => [await dear().update({ state: 'printed' }), await dear().update({ state: 'printed' })])
  await step('increment', async () => {
    await database('books').where('id', '<', 3).increment({ price: 0.5 })
    await database('books').where('id', 2).decrement('price', 2)
    return database('books').select('price').where('id', '<', 4).orderBy('id')
  })
  await step('update over a join', async () => {
    const changed = await database('books').join('people', 'people.id', 'books.person').where('people.name', 'Cid').update({ 'books.subtitle': database.ref('people.name') })
    return [changed, await database('books').countDistinct({ subtitles: 'subtitle' })]
  })
  await step('update with limit', () => database('books').whereNull('subtitle').orderBy('id', 'desc').limit(2).update({ subtitle: 'last' }))
  await step('update of JSON', async () => {
    await database('books').where({ id: 5 }).update({ about: database.raw("JSON_SET(about, '$.pages', ?)", [555]) })
    return database('books').first('about').where({ id: 5 })
  })
}

async function deletes(database) {
  await step('delete over a join', () => database('books').join('people', 'people.id', 'books.person').where('people.born', 1970).andWhere('books.price', '>', 60).del())
  await step('delete cascades', async () => [await database('people').where({ name: 'Cid' }).del(), await database('books').where({ person: 3 }).count({ rows: '*' })])
  await step('truncate of a parent', () => refused(() => database('people').truncate()))
  await step('truncate', async () => {
    await database('books').truncate()
    return database('books').insert({ person: 1, title: 'first again' })
  })
}

module.exports = async database => {
  await inserts(database)
  await updates(database)
  await deletes(database)
}
