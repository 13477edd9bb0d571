// Entities: every type of column, a shop with each kind of relation, trees, a view.
const { EntitySchema } = require('typeorm')

const plain = (type, more) => ({ type, nullable: true, ...more })

const EveryType = new EntitySchema({
  name: 'EveryType', tableName: 'every_type', columns: {
    id: { type: 'bigint', unsigned: true, primary: true, generated: 'increment' },
    bit: plain('bit'), tiny: plain('tinyint', { default: -3 }), flag: { type: 'boolean', default: true }, small: plain('smallint', { unsigned: true }),
    medium: plain('mediumint'), whole: plain('int'), big: plain('bigint'), single: plain('float'), double: plain('double', { precision: 12, scale: 4 }),
    exact: plain('decimal', { precision: 20, scale: 6, default: '1.500000' }), fixed: plain('char', { length: 6 }), short: { type: 'varchar', length: 50, default: 'so "it" is', comment: 'it\'s short' },
    latin: plain('varchar', { length: 20, charset: 'latin1', collation: 'latin1_general_cs' }), bytes: plain('binary', { length: 4 }), someBytes: plain('varbinary', { length: 40 }),
    tinyText: plain('tinytext'), text: plain('text'), mediumText: plain('mediumtext'), longText: plain('longtext'),
    tinyBlob: plain('tinyblob'), blob: plain('blob'), mediumBlob: plain('mediumblob'), longBlob: plain('longblob'),
    day: plain('date'), time: plain('time', { precision: 3 }), moment: plain('datetime', { precision: 6, default: () => 'CURRENT_TIMESTAMP(6)' }), stamp: plain('timestamp', { precision: 0, onUpdate: 'CURRENT_TIMESTAMP' }), year: plain('year'),
    choice: { type: 'enum', enum: ['a', 'b', 'b b'], default: 'a' }, choices: plain('set', { enum: ['x', 'y', 'z'], default: ['x', 'z'] }), list: plain('simple-array'), object: plain('simple-json'),
    document: plain('json'), uuid: { type: 'varchar', length: 36, generated: 'uuid' },
    total: plain('decimal', { precision: 20, scale: 6, asExpression: '`exact` * 2', generatedType: 'STORED' }), label: plain('varchar', { length: 80, asExpression: "concat(`short`,'-',`choice`)", generatedType: 'VIRTUAL' }),
  },
})

const Customer = new EntitySchema({
  name: 'Customer', tableName: 'customers', columns: {
    id: { type: 'int', primary: true, generated: true }, name: { type: 'varchar', length: 80 }, email: { type: 'varchar', unique: true },
    madeAt: { type: 'datetime', createDate: true }, changedAt: { type: 'datetime', updateDate: true }, deletedAt: { type: 'datetime', deleteDate: true }, version: { type: 'int', version: true },
  },
  indices: [{ name: 'customer_name', columns: ['name', 'email'] }],
  relations: {
    profile: { type: 'one-to-one', target: 'Profile', joinColumn: true, cascade: true, nullable: true, onDelete: 'SET NULL' },
    orders: { type: 'one-to-many', target: 'Order', inverseSide: 'customer', cascade: true },
  },
})

const Profile = new EntitySchema({
  name: 'Profile', tableName: 'profiles', columns: { id: { type: 'int', primary: true, generated: true }, about: { type: 'json', nullable: true } },
})

const Product = new EntitySchema({
  name: 'Product', tableName: 'products', columns: { sku: { type: 'varchar', length: 20, primary: true }, price: { type: 'decimal', precision: 10, scale: 2 }, stock: { type: 'int', default: 0 } },
  checks: [{ name: 'product_price', expression: '`price` >= 0' }], uniques: [{ name: 'product_pair', columns: ['sku', 'price'] }],
})

const Order = new EntitySchema({
  name: 'Order', tableName: 'orders', columns: { id: { type: 'int', primary: true, generated: true }, state: { type: 'enum', enum: ['open', 'paid'], default: 'open' }, placed: { type: 'date' }, total: { type: 'decimal', precision: 10, scale: 2, default: 0 } },
  relations: {
    customer: { type: 'many-to-one', target: 'Customer', inverseSide: 'orders', nullable: false, onDelete: 'CASCADE', onUpdate: 'CASCADE' },
    products: { type: 'many-to-many', target: 'Product', joinTable: { name: 'order_products' }, cascade: true },
  },
  indices: [{ columns: ['state', 'placed'] }],
})

const Category = new EntitySchema({
  name: 'Category', tableName: 'categories', trees: [{ type: 'closure-table' }], columns: { id: { type: 'int', primary: true, generated: true }, name: { type: 'varchar' } },
  relations: { parent: { type: 'many-to-one', treeParent: true, target: 'Category' }, children: { type: 'one-to-many', treeChildren: true, target: 'Category', cascade: true } },
})

const Place = new EntitySchema({
  name: 'Place', tableName: 'places', trees: [{ type: 'materialized-path' }], columns: { id: { type: 'int', primary: true, generated: true }, name: { type: 'varchar' } },
  relations: { parent: { type: 'many-to-one', treeParent: true, target: 'Place' }, children: { type: 'one-to-many', treeChildren: true, target: 'Place', cascade: true } },
})

const Turnover = new EntitySchema({
  name: 'Turnover', tableName: 'turnover', type: 'view', columns: { customer: { type: 'varchar' }, orders: { type: 'bigint' }, total: { type: 'decimal' } },
  expression: 'SELECT c.name AS customer, COUNT(o.id) AS orders, SUM(o.total) AS total FROM customers c JOIN orders o ON o.customerId = c.id GROUP BY c.name',
})

module.exports = { entities: [EveryType, Customer, Profile, Product, Order, Category, Place, Turnover] }
