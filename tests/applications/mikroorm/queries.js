// Conditions, pages by offset and by cursor, JSON, groups, and the query builder.
const { raw, sql } = require('@mikro-orm/mysql')
const { step } = require('../node/steps')

const CONDITIONS = {
  operators: ['Course', { hours: { $gt: 10, $lte: 42 }, title: { $ne: 'x' } }], in: ['Course', { title: { $in: ['Course 0', 'Course 2'] } }], like: ['Course', { title: { $like: '%2' } }], regexp: ['Course', { title: /^Course [0-3]$/ }],
  not: ['Course', { $not: { hours: 42 } }], or: ['Course', { $or: [{ hours: 42 }, { teacher: { name: 'Ann' } }] }], null: ['Student', { tutor: null }], key: ['Course', { room: { building: 'A', number: 1 } }],
  some: ['Teacher', { courses: { $some: { hours: 42 } } }], none: ['Teacher', { courses: { $none: { hours: 42 } } }], every: ['Teacher', { courses: { $every: { hours: { $gt: 5 } } } }], json: ['Student', { grades: { maths: { $gt: 1 }, best: false } }],
  'json in a list': ['Student', { [raw("json_contains(grades, '4', '$.list')")]: [] }], embedded: ['Teacher', { address: { city: 'Ulm' } }], raw: ['Course', { [raw(alias => `upper(${alias}.title)`)]: 'COURSE 2' }], filter: ['Course', {}, { filters: ['present'] }],
}

const BUILT = {
  'join and select': em => em.createQueryBuilder('Course', 'c').select(['c.title', 't.name']).leftJoin('c.teacher', 't').where({ 't.name': 'Ann' }).orderBy({ 'c.id': 1 }).execute(),
  'join and map': em => em.createQueryBuilder('Teacher', 't').select('t.*').leftJoinAndSelect('t.courses', 'c', { hours: { $gt: 20 } }).orderBy({ 't.id': 1, 'c.id': 1 }).getResult().then(found => found.map(teacher => [teacher.name, teacher.courses.getItems().map(course => course.title)])),
  'group and having': em => em.createQueryBuilder('Course', 'c').select(['teacher', raw('count(*) as courses'), raw('sum(c.hours) as hours')]).groupBy('teacher').having({ [raw('count(*)')]: { $gt: 1 } }).orderBy({ teacher: 1 }).execute(),
  'subquery in a condition': em => em.createQueryBuilder('Course', 'c').select('c.title').where({ 'c.hours': { $in: em.createQueryBuilder('Course', 'd').select(raw('max(d.hours)')).groupBy('d.teacher').getKnexQuery() } }).orderBy({ 'c.title': 1 }).execute(),
  'subquery as a column': em => em.createQueryBuilder('Teacher', 't').select(['t.name', em.createQueryBuilder('Course', 'c').count('c.id').where({ 'c.teacher': sql.ref('t.id') }).as('courses')]).orderBy({ 't.name': 1 }).execute(),
  'from a subquery': em => em.createQueryBuilder(em.createQueryBuilder('Course', 'c').select(['c.title', 'c.hours']).where({ 'c.hours': { $gt: 20 } }), 's').select(['s.title']).orderBy({ 's.title': 1 }).execute(),
  'pages over joins': em => em.createQueryBuilder('Course', 'c').select('*').leftJoinAndSelect('c.students', 's').orderBy({ 'c.title': 1 }).limit(2, 1).getResult().then(found => found.map(course => [course.title, course.students.getItems().map(student => student.name).sort()])),
  'count': em => em.createQueryBuilder('Course', 'c').leftJoin('c.students', 's').count('c.id', true).execute('get'),
  'update': em => em.createQueryBuilder('Course').update({ hours: raw('hours + 1') }).where({ title: 'Course 2' }).execute().then(result => result.affectedRows),
  'insert or update': em => em.createQueryBuilder('Room').insert([{ building: 'A', number: 1, seats: 7 }, { building: 'E', number: 1, seats: 8 }]).onConflict(['building', 'number']).merge(['seats']).execute().then(result => result.affectedRows),
  'insert or ignore': em => em.createQueryBuilder('Room').insert([{ building: 'A', number: 1, seats: 9 }]).onConflict(['building', 'number']).ignore().execute().then(result => result.affectedRows),
  'delete': em => em.createQueryBuilder('Room').delete({ building: 'E' }).execute().then(result => result.affectedRows),
  'truncate': em => em.createQueryBuilder('EveryType').truncate().execute().then(result => result.affectedRows),
  'knex': em => em.getKnex()('course').select('title').whereRaw('hours > ?', [20]).orderBy('id').limit(2),
  'raw statement': em => em.execute('select name from person where kind = ? order by name', ['student']),
}

module.exports = async orm => {
  const fork = () => orm.em.fork()
  for (const [name, [entity, where, options]] of Object.entries(CONDITIONS)) await step(`where ${name}`, async () => (await fork().find(entity, where, { orderBy: { id: 1 }, ...options })).map(found => found.title || found.name))
  await step('findAndCount', async () => {
    const [found, count] = await fork().findAndCount('Course', {}, { orderBy: { title: 'desc' }, limit: 2, offset: 1, populate: ['students'] })
    return [found.map(course => course.title), count]
  })
  await step('order by a relation', async () => (await fork().find('Student', {}, { orderBy: [{ tutor: { name: 'asc nulls last' } }, { name: 'desc' }] })).map(student => student.name))
  await step('order by JSON', async () => (await fork().find('Student', {}, { orderBy: { grades: { maths: 'desc' } } })).map(student => student.name))
  await step('cursor', async () => {
    const seen = []
    let cursor
    for (let page = 0; page < 2; page++) {
      cursor = await fork().findByCursor('Course', {}, { first: 2, after: cursor, orderBy: { hours: 'desc', id: 'asc' } })
      seen.push([cursor.items.map(course => course.title), cursor.totalCount, cursor.hasNextPage, cursor.hasPrevPage])
    }
    return seen
  })
  for (const [name, run] of Object.entries(BUILT)) await step(`built: ${name}`, () => run(fork()))
}
