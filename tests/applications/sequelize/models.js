// Models: one table with every type, and a library of authors, books, tags and reviews with their relations.
const { DataTypes } = require('sequelize')

function everyType(sequelize) {
  return sequelize.define('EveryType', {
    tiny: DataTypes.TINYINT, small: DataTypes.SMALLINT.UNSIGNED, medium: DataTypes.MEDIUMINT, whole: DataTypes.INTEGER(9).ZEROFILL,
    big: DataTypes.BIGINT.UNSIGNED, single: DataTypes.FLOAT, double: DataTypes.DOUBLE, exact: DataTypes.DECIMAL(20, 6), flag: DataTypes.BOOLEAN,
    fixed: DataTypes.CHAR(5), short: { type: DataTypes.STRING(40), defaultValue: 'it\'s "quoted"' }, bytes: DataTypes.STRING(20).BINARY,
    tinyText: DataTypes.TEXT('tiny'), text: DataTypes.TEXT, mediumText: DataTypes.TEXT('medium'), longText: DataTypes.TEXT('long'),
    tinyBlob: DataTypes.BLOB('tiny'), blob: DataTypes.BLOB, mediumBlob: DataTypes.BLOB('medium'), longBlob: DataTypes.BLOB('long'),
    moment: DataTypes.DATE(3), second: DataTypes.DATE, day: DataTypes.DATEONLY, time: DataTypes.TIME, uuid: { type: DataTypes.UUID },
    choice: { type: DataTypes.ENUM('a', 'b', 'it\'s'), allowNull: false, defaultValue: 'b' }, document: DataTypes.JSON,
    computed: { type: 'VARCHAR(60) GENERATED ALWAYS AS (concat(short, \'-\', choice)) STORED', set() {} },
  }, { tableName: 'every_type', timestamps: false, comment: 'one column of each type', charset: 'utf8mb4', collate: 'utf8mb4_bin' })
}

function library(sequelize) {
  const Author = sequelize.define('Author', {
    name: { type: DataTypes.STRING(80), allowNull: false, unique: 'author_name', comment: 'as printed' },
    born: DataTypes.INTEGER,
    settings: DataTypes.JSON,
  }, { tableName: 'authors', timestamps: false, indexes: [{ fields: [{ name: 'born', order: 'DESC' }, 'name'] }, { name: 'author_beginning', fields: [{ name: 'name', length: 10 }] }] })
  const Book = sequelize.define('Book', {
    title: { type: DataTypes.STRING, allowNull: false },
    price: { type: DataTypes.DECIMAL(10, 2), allowNull: false, defaultValue: 9.5 },
    pages: { type: DataTypes.INTEGER.UNSIGNED, defaultValue: 0 },
    isbn: { type: DataTypes.STRING(20), unique: true },
  }, { tableName: 'books', timestamps: false, version: true, paranoid: false })
  const Tag = sequelize.define('Tag', { word: { type: DataTypes.STRING(30), primaryKey: true } }, { tableName: 'tags', timestamps: false })
  const Review = sequelize.define('Review', { stars: DataTypes.TINYINT, text: DataTypes.TEXT, deletedAt: DataTypes.DATE },
    { tableName: 'reviews', timestamps: true, createdAt: false, updatedAt: false, paranoid: true })
  Author.hasMany(Book, { as: 'books', foreignKey: { name: 'authorId', allowNull: false }, onDelete: 'CASCADE', onUpdate: 'CASCADE' })
  Book.belongsTo(Author, { as: 'author', foreignKey: 'authorId' })
  Author.belongsTo(Author, { as: 'teacher', foreignKey: 'teacherId', onDelete: 'SET NULL', constraints: true })
  Book.belongsToMany(Tag, { through: 'book_tags', as: 'tags', foreignKey: 'bookId', otherKey: 'tagWord', timestamps: false })
  Tag.belongsToMany(Book, { through: 'book_tags', as: 'books', foreignKey: 'tagWord', otherKey: 'bookId', timestamps: false })
  Book.hasMany(Review, { as: 'reviews', foreignKey: 'bookId', onDelete: 'RESTRICT' })
  Review.belongsTo(Book, { as: 'book', foreignKey: 'bookId' })
  Book.addScope('long', { where: { pages: { [require('sequelize').Op.gt]: 300 } } })
  return { Author, Book, Tag, Review }
}

module.exports = sequelize => ({ EveryType: everyType(sequelize), ...library(sequelize) })
