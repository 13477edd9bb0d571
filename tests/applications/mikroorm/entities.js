// Entities: every type of column, and a school with each kind of relation, an embedded address and single-table inheritance.
const { EntitySchema } = require('@mikro-orm/mysql')

const nullable = (type, more) => ({ type, nullable: true, ...more })

const EveryType = new EntitySchema({
  name: 'EveryType', comment: 'one column of each type', properties: {
    id: { type: 'bigint', primary: true, unsigned: true }, tiny: nullable('tinyint'), flag: nullable('boolean', { default: true }), small: nullable('smallint', { unsigned: true }), medium: nullable('mediumint'),
    whole: nullable('integer', { default: 7 }), single: nullable('float'), double: nullable('double'), exact: nullable('decimal', { precision: 20, scale: 6 }), fixed: nullable('character', { length: 5 }),
    short: nullable('string', { length: 40, default: 'as it is', comment: 'a \'short\' one' }), text: nullable('text', { lazy: false }), longText: nullable('text', { columnType: 'longtext' }), bytes: nullable('blob'), moment: nullable('datetime', { length: 3 }),
    stamp: nullable('datetime', { columnType: 'timestamp', defaultRaw: 'current_timestamp' }), day: nullable('date'), time: nullable('time'), uuid: nullable('uuid'), choice: { enum: true, items: ['a', 'b', 'c d'], default: 'b' },
    choices: nullable('string', { columnType: "set('x','y')" }), list: nullable('array'), document: nullable('json'), year: nullable('integer', { columnType: 'year' }),
    total: nullable('decimal', { precision: 20, scale: 6, generated: '(exact * 2) stored' }), label: nullable('string', { length: 60, generated: "(concat(short, '-', choice)) virtual" }),
  },
})

const Address = new EntitySchema({ name: 'Address', embeddable: true, properties: { street: nullable('string'), city: { type: 'string', length: 50, nullable: true } } })

const Person = new EntitySchema({
  name: 'Person', abstract: true, discriminatorColumn: 'kind', discriminatorMap: { teacher: 'Teacher', student: 'Student' }, tableName: 'person',
  properties: { id: { type: 'integer', primary: true }, name: { type: 'string', length: 80 }, kind: { enum: true, items: ['teacher', 'student'] }, address: { kind: 'embedded', entity: 'Address', nullable: true } },
  indexes: [{ name: 'person_name', properties: ['name', 'kind'] }], uniques: [{ name: 'one_person', properties: ['kind', 'name'] }],
})

const Teacher = new EntitySchema({ name: 'Teacher', extends: 'Person', properties: { salary: nullable('decimal', { precision: 10, scale: 2 }), courses: { kind: '1:m', entity: 'Course', mappedBy: 'teacher' } } })

const Student = new EntitySchema({ name: 'Student', extends: 'Person', properties: { grades: nullable('json'), tutor: { kind: 'm:1', entity: 'Teacher', nullable: true, deleteRule: 'set null' }, courses: { kind: 'm:n', entity: 'Course', mappedBy: 'students' } } })

const Course = new EntitySchema({
  name: 'Course', properties: {
    id: { type: 'integer', primary: true }, title: { type: 'string', unique: true }, hours: { type: 'integer', unsigned: true }, price: { type: 'decimal', precision: 8, scale: 2, defaultRaw: '0.00' },
    teacher: { kind: 'm:1', entity: 'Teacher', deleteRule: 'cascade', updateRule: 'cascade' }, students: { kind: 'm:n', entity: 'Student', inversedBy: 'courses', pivotTable: 'enrolment', fixedOrder: true },
    room: { kind: '1:1', entity: 'Room', owner: true, nullable: true, orphanRemoval: true }, createdAt: { type: 'datetime', onCreate: () => new Date('2024-01-02T03:04:05Z') }, deleted: { type: 'boolean', default: false }, version: { type: 'integer', version: true },
  },
  checks: [{ name: 'course_price', expression: 'price >= 0' }, { property: 'hours', expression: 'hours < 100' }], indexes: [{ name: 'course_expression', expression: 'create index `course_expression` on `course` ((upper(`title`)), `hours` desc)' }],
  filters: { present: { name: 'present', cond: { deleted: false }, default: false } },
})

const Room = new EntitySchema({ name: 'Room', properties: { building: { type: 'string', length: 10, primary: true }, number: { type: 'integer', primary: true }, seats: { type: 'integer', nullable: true }, course: { kind: '1:1', entity: 'Course', mappedBy: 'room', nullable: true } } })

const Load = new EntitySchema({ name: 'Load', expression: 'select t.name, count(c.id) as courses, sum(c.hours) as hours from person t join course c on c.teacher_id = t.id group by t.name order by t.name', properties: { name: { type: 'string' }, courses: { type: 'integer' }, hours: { type: 'integer' } } })

module.exports = { entities: [EveryType, Address, Person, Teacher, Student, Course, Room, Load] }
