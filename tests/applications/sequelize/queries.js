// Queries of related models: includes, conditions, pages, groups, JSON, upserts and rows in bulk.
const { Op, QueryTypes, col, fn, literal, where, cast, json } = require('sequelize')
const { refused, step } = require('../node/steps')

async function fill({ Author, Book, Tag, Review }) {
  await step('bulkCreate authors', async () => (await Author.bulkCreate([
    { name: 'Ann', born: 1950, settings: { theme: 'dark', sizes: [1, 2, 3] } }, { name: 'Bob', born: 1960, settings: { theme: 'light', sizes: [] } },
    { name: 'Cid', born: 1970, settings: null, teacherId: 1 }, { name: 'Dee', born: null, settings: { theme: 'dark', deep: { level: 7 } }, teacherId: 1 }])).length)
  await step('create with includes', async () => {
    const author = await Author.create({ name: 'Eve', books: [{ title: 'E1', pages: 100 }] }, { include: 'books' })
    await author.createBook({ title: 'E2', pages: 500, price: 20 })
    return author.toJSON()
  })
  await step('bulkCreate books', async () => {
    const books = []
    for (let number = 1; number <= 40; number++) books.push({ title: `Book ${number}`, authorId: 1 + number % 4, pages: number * 20, price: (number * 1.25).toFixed(2), isbn: `isbn-${number}` })
    return (await Book.bulkCreate(books)).length
  })
  await step('tags and reviews', async () => {
    await Tag.bulkCreate(['old', 'new', 'red'].map(word => ({ word })))
    for (const book of await Book.findAll({ where: { id: { [Op.lte]: 6 } } })) {
      await book.setTags(book.id % 2 ? ['old', 'red'] : ['new'])
      await Review.bulkCreate([1, 2, 3].map(stars => ({ bookId: book.id, stars: stars + book.id % 3, text: `review ${stars} of ${book.title}` })))
    }
    return Review.count()
  })
}

async function relations({ Author, Book, Tag, Review }) {
  await step('include with order and limit', async () => Author.findAll({ include: [{ association: 'books', where: { pages: { [Op.gt]: 600 } }, required: false, attributes: ['title', 'pages'] }, 'teacher'], order: [['name', 'DESC'], ['books', 'pages', 'ASC']], limit: 3 }))
  await step('include separate', async () => Author.findAll({ attributes: ['name'], include: [{ association: 'books', separate: true, order: [['pages', 'DESC']], limit: 2, attributes: ['title', 'authorId'] }], order: ['id'] }))
  await step('include through', async () => Book.findAll({ attributes: ['title'], include: [{ association: 'tags', through: { attributes: [] } }, { association: 'reviews', attributes: ['stars'] }], where: { id: { [Op.lte]: 4 } }, order: ['id', ['tags', 'word'], ['reviews', 'stars']] }))
  await step('where on an include', async () => Book.findAll({ attributes: ['title'], include: { association: 'author', attributes: ['name'] }, where: { '$author.born$': { [Op.between]: [1955, 1965] } }, order: ['title'], limit: 4, subQuery: false }))
  await step('findAndCountAll', async () => Book.findAndCountAll({ attributes: ['title'], include: [{ association: 'reviews', attributes: [], required: true }], distinct: true, order: ['id'], limit: 2, offset: 1 }))
  await step('scope', async () => Book.scope('long').count())
  await step('counts of relations', async () => Promise.all((await Book.findAll({ where: { id: { [Op.lte]: 3 } }, order: ['id'] })).map(book => book.countTags())))
  await step('exists by literal', async () => Author.findAll({ attributes: ['name'], where: literal('EXISTS (SELECT 1 FROM reviews r JOIN books b ON b.id = r.bookId WHERE b.authorId = Author.id)'), order: ['name'] }))
  await step('paranoid', async () => {
    await Review.destroy({ where: { stars: 1 } })
    const counts = [await Review.count(), await Review.count({ paranoid: false })]
    await Review.restore({ where: { stars: 1 } })
    return [...counts, await Review.count()]
  })
  await step('delete restricted', () => refused(() => Book.destroy({ where: { id: 1 } })))
  await step('tag and its books', async () => (await Tag.findByPk('red', { include: { association: 'books', attributes: ['id'], through: { attributes: [] } }, order: [['books', 'id']] })).toJSON())
}

async function conditions({ Author, Book }) {
  const asked = {
    or: { [Op.or]: [{ title: 'E1' }, { pages: { [Op.in]: [20, 40] } }] }, not: { title: { [Op.notLike]: 'Book%' } }, like: { title: { [Op.like]: '%k 1%' } },
    startsWith: { title: { [Op.startsWith]: 'E' } }, substring: { title: { [Op.substring]: '2' } }, regexp: { title: { [Op.regexp]: '^Book [0-9]$' } },
    notRegexp: { title: { [Op.notRegexp]: '^Book' } }, null: { isbn: null }, between: { price: { [Op.between]: [10, 11.25] } }, column: { pages: { [Op.gt]: col('price') } },
    function: where(fn('char_length', col('title')), 2), cast: where(cast(col('price'), 'SIGNED'), 20), subquery: { authorId: { [Op.in]: literal('(SELECT id FROM authors WHERE born > 1955)') } },
  }
  for (const [name, condition] of Object.entries(asked)) await step(`where ${name}`, async () => (await Book.findAll({ attributes: ['id'], where: condition, order: ['id'], raw: true })).map(book => book.id))
  const documents = {
    path: { 'settings.theme': 'dark' }, number: { settings: { deep: { level: { [Op.gt]: 5 } } } }, extract: literal("JSON_LENGTH(settings, '$.sizes') = 3"),
    contains: literal("JSON_CONTAINS(settings, '2', '$.sizes')"), nested: json({ settings: { theme: 'light' } }),
  }
  for (const [name, condition] of Object.entries(documents)) await step(`json ${name}`, async () => (await Author.findAll({ attributes: ['name'], where: condition, order: ['name'], raw: true })).map(author => author.name))
}

async function aggregates(sequelize, { Author, Book }) {
  await step('sum, min, max, average', async () => [await Book.sum('price'), await Book.min('pages'), await Book.max('title'), await Book.aggregate('price', 'avg', { dataType: 'decimal' }), await Book.count({ distinct: true, col: 'authorId' })])
  await step('group and having', async () => Book.findAll({ attributes: ['authorId', [fn('COUNT', col('id')), 'books'], [fn('AVG', col('pages')), 'pages']], group: ['authorId'], having: where(fn('COUNT', col('id')), '>', 5), order: [[literal('books'), 'DESC'], ['authorId', 'ASC']], raw: true }))
  await step('group over include', async () => Author.findAll({ attributes: ['name', [fn('SUM', col('books.price')), 'worth']], include: [{ association: 'books', attributes: [] }], group: ['Author.id'], order: [[literal('worth'), 'DESC'], ['name', 'ASC']], raw: true }))
  await step('count by group', async () => Book.count({ group: ['authorId'] }))
  await step('raw with replacements', async () => sequelize.query('SELECT name, born FROM authors WHERE born > :year OR name IN (:names) ORDER BY name', { replacements: { year: 1955, names: ['Ann', 'Eve'] }, type: QueryTypes.SELECT }))
  await step('raw with bind', async () => sequelize.query('SELECT title FROM books WHERE pages > $pages AND price < $price ORDER BY id LIMIT 2', { bind: { pages: 500, price: 45.5 }, type: QueryTypes.SELECT }))
  await step('window by raw', async () => sequelize.query('SELECT authorId, title, RANK() OVER (PARTITION BY authorId ORDER BY pages DESC) AS place FROM books ORDER BY authorId, place LIMIT 6', { type: QueryTypes.SELECT }))
}

async function changes({ Author, Book, Tag }) {
  await step('upsert', async () => {
    const [, made] = await Book.upsert({ isbn: 'isbn-1', title: 'Book 1, again', authorId: 1 })
    return [made, await Book.findOne({ where: { isbn: 'isbn-1' }, raw: true })]
  })
  await step('bulkCreate updateOnDuplicate', async () => {
    await Author.bulkCreate([{ name: 'Ann', born: 1951 }, { name: 'Fay', born: 1990 }], { updateOnDuplicate: ['born'] })
    return Author.findAll({ attributes: ['name', 'born'], where: { name: ['Ann', 'Fay'] }, order: ['name'], raw: true })
  })
  await step('bulkCreate ignoreDuplicates', async () => {
    await Tag.bulkCreate([{ word: 'old' }, { word: 'rare' }], { ignoreDuplicates: true })
    return Tag.findAll({ order: ['word'], raw: true })
  })
  await step('findOrCreate', async () => {
    const [found, first] = await Author.findOrCreate({ where: { name: 'Gus' }, defaults: { born: 2000 } })
    const [again, second] = await Author.findOrCreate({ where: { name: 'Gus' } })
    return [first, second, found.id === again.id]
  })
  await step('duplicate', () => refused(() => Author.create({ name: 'Ann' })))
  await step('increment', async () => {
    await Book.increment({ pages: 5 }, { where: { authorId: 2 } })
    await Book.decrement('pages', { by: 1, where: { id: 1 } })
    return Book.findAll({ attributes: ['id', 'pages'], where: { id: [1, 3, 7] }, order: ['id'], raw: true })
  })
  await step('optimistic lock', async () => {
    const [one, two] = [await Book.findByPk(2), await Book.findByPk(2)]
    await one.update({ pages: 501 })
    return two.update({ pages: 502 }).then(() => 'changed', error => error.name)
  })
  await step('update with limit', async () => Book.update({ price: 1 }, { where: { authorId: 3 }, limit: 2 }))
  await step('delete with limit', async () => Book.destroy({ where: { authorId: 4, id: { [Op.gt]: 6 } }, limit: 3 }))
  await step('json change', async () => {
    await Author.update({ settings: literal("JSON_SET(settings, '$.theme', 'blue', '$.more', 1)") }, { where: { name: 'Ann' } })
    return (await Author.findOne({ where: { name: 'Ann' } })).settings
  })
  await step('cascade', async () => {
    await Author.destroy({ where: { name: 'Bob' } })
    return Book.count({ where: { authorId: 2 } })
  })
}

module.exports = async (sequelize, models) => {
  await fill(models)
  await relations(models)
  await conditions(models)
  await aggregates(sequelize, models)
  await changes(models)
}
