// The unit of work: cascades, collections, populating, versions, upserts, rows in bulk.
const { wrap } = require('@mikro-orm/mysql')
const { refused, step } = require('../node/steps')

async function fill(orm) {
  await step('flush a graph', async () => {
    const em = orm.em.fork()
    const teachers = ['Ann', 'Bob'].map((name, index) => em.create('Teacher', { name, salary: `${1000 * (index + 1)}.50`, address: { street: `${index} Way`, city: 'Ulm' } }))
    const students = ['Cid', 'Dee', 'Eve', 'Fay'].map((name, index) => em.create('Student', { name, grades: { maths: index + 1, best: index === 0, list: [index, index * 2] }, tutor: teachers[index % 2] }))
    const courses = Array.from({ length: 8 }, (_, index) => em.create('Course', { title: `Course ${index}`, hours: 10 + index * 5, price: `${index * 10}.25`, teacher: teachers[index % 2], room: index < 3 ? em.create('Room', { building: 'A', number: index, seats: 20 + index }) : null }))
    courses.forEach((course, index) => course.students.add(...students.slice(0, 1 + index % 4)))
    await em.flush()
    return [teachers, students, courses].map(list => list.map(entity => entity.id))
  })
}

async function load(orm) {
  const plain = entity => wrap(entity).toObject()
  for (const strategy of ['select-in', 'joined']) {
    await step(`populate ${strategy}`, async () => (await orm.em.fork().find('Course', { hours: { $gte: 30 } }, { populate: ['teacher', 'students', 'room'], strategy, orderBy: { id: 'asc' } })).map(plain))
    await step(`populate an inverse side ${strategy}`, async () => (await orm.em.fork().find('Teacher', {}, { populate: ['courses'], strategy, orderBy: { name: 'desc', courses: { id: 'asc' } } })).map(plain))
  }
  await step('populate a condition', async () => (await orm.em.fork().find('Teacher', { courses: { title: 'Course 3' } }, { populate: ['courses'], populateWhere: 'infer' })).map(plain))
  await step('some fields', async () => (await orm.em.fork().find('Student', {}, { fields: ['name', 'tutor.name'], orderBy: { name: 1 } })).map(plain))
  await step('a virtual entity', async () => (await orm.em.fork().find('Load', {})).map(plain))
  await step('all kinds of a person', async () => (await orm.em.fork().find('Person', {}, { orderBy: { id: 1 } })).map(entity => [entity.constructor.name, entity.name]))
}

async function change(orm) {
  await step('flush computes changes', async () => {
    const em = orm.em.fork()
    const course = await em.findOneOrFail('Course', { title: 'Course 1' }, { populate: ['students', 'teacher'] })
    course.hours = 99
    course.teacher.address.city = 'Bonn'
    course.students.removeAll()
    await em.flush()
    const again = await orm.em.fork().findOneOrFail('Course', course.id, { populate: ['students', 'teacher'] })
    return [again.hours, again.students.length, again.teacher.address.city, again.version]
  })
  await step('many changes in one statement', async () => {
    const em = orm.em.fork()
    for (const course of await em.find('Course', {})) course.price = (Number(course.price) + 1).toFixed(2)
    await em.flush()
    return (await orm.em.fork().find('Course', {}, { orderBy: { id: 1 } })).map(course => course.price)
  })
  await step('optimistic lock', async () => {
    const [one, two] = [orm.em.fork(), orm.em.fork()]
    const [first, second] = [await one.findOneOrFail('Course', { title: 'Course 3' }), await two.findOneOrFail('Course', { title: 'Course 3' })]
    first.price = '1.00'
    second.price = '2.00'
    await one.flush()
    return two.flush().then(() => 'flushed', error => error.name)
  })
  await step('upsert', async () => {
    const em = orm.em.fork()
    const course = await em.upsert('Course', { title: 'Course 2', hours: 42, teacher: 1, createdAt: new Date(0) })
    await em.upsertMany('Room', [{ building: 'A', number: 1, seats: 99 }, { building: 'B', number: 1, seats: 5 }])
    return [course.id, course.hours, (await orm.em.fork().find('Room', {}, { orderBy: { building: 1, number: 1 } })).map(room => [room.building, room.number, room.seats])]
  })
  await step('upsert that keeps', async () => {
    await orm.em.fork().upsertMany('Room', [{ building: 'A', number: 1, seats: 1 }, { building: 'C', number: 1, seats: 6 }], { onConflictAction: 'ignore' })
    return orm.em.fork().count('Room', { seats: { $gt: 5 } })
  })
  await step('insertMany', async () => (await orm.em.fork().insertMany('Room', Array.from({ length: 120 }, (_, number) => ({ building: 'D', number, seats: number })))).length)
  await step('nativeUpdate', () => orm.em.fork().nativeUpdate('Room', { building: 'D', seats: { $lt: 50 } }, { seats: null }))
  await step('nativeDelete', () => orm.em.fork().nativeDelete('Room', { building: 'D' }))
  await step('orphans are removed', async () => {
    const em = orm.em.fork()
    const course = await em.findOneOrFail('Course', { title: 'Course 0' }, { populate: ['room'] })
    course.room = null
    await em.flush()
    return orm.em.fork().count('Room', { building: 'A' })
  })
  await step('the check holds', () => refused(() => orm.em.fork().nativeUpdate('Course', { title: 'Course 1' }, { hours: 100 })))
  await step('the named check holds', () => refused(() => orm.em.fork().nativeUpdate('Course', { title: 'Course 1' }, { price: '-1' })))
  await step('the unique key holds', () => refused(() => orm.em.fork().nativeUpdate('Course', { title: 'Course 1' }, { title: 'Course 2' })))
  await step('remove cascades', async () => {
    const em = orm.em.fork()
    await em.removeAndFlush(await em.findOneOrFail('Teacher', { name: 'Bob' }))
    return [await orm.em.fork().count('Course'), await orm.em.fork().count('Student', { tutor: null })]
  })
}

module.exports = async orm => {
  await fill(orm)
  await load(orm)
  await change(orm)
}
