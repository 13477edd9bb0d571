// A value of each type through a repository, found again by each column.
const { refused, step } = require('../node/steps')

const ROW = {
  bit: Buffer.from([1]), tiny: -128, flag: false, small: 65535, medium: -8388608, whole: 42, big: '-9223372036854775808', single: 0.25, double: 12345678.5, exact: '12345678901234.567890',
  fixed: 'fixed', short: 'naïve 漢字 🐬', latin: 'Çé', bytes: Buffer.from([1, 2, 3, 4]), someBytes: Buffer.from([0, 39, 92]), tinyText: 't', text: 'l1\nl2\t\\ \'"', mediumText: 'm', longText: 'l'.repeat(70000),
  tinyBlob: Buffer.from([0]), blob: Buffer.from('b\0'), mediumBlob: Buffer.from('mm'), longBlob: Buffer.from([255, 254]), day: '2024-02-29', time: '23:59:58.123', moment: new Date('2024-02-29T12:34:56.789Z'), stamp: new Date('2001-09-09T01:46:40Z'), year: 2024,
  choice: 'b b', choices: ['y', 'z'], list: ['one', 'two'], object: { k: 1 }, document: { list: [1, 2.5, null], deep: { é: true } }, uuid: '6fa459ea-ee8a-3ca4-894e-db77e160355e',
}

module.exports = async source => {
  const repository = source.getRepository('EveryType')
  await step('save a row of every type', async () => {
    const { longText, moment, ...seen } = await repository.save(repository.create(ROW))
    return seen
  })
  await step('read it', async () => {
    const { longText, ...seen } = await repository.findOneByOrFail({ short: ROW.short })
    return { ...seen, longText: longText.length }
  })
  await step('save a row of defaults', async () => {
    const { moment, stamp, uuid, ...seen } = await repository.findOneByOrFail({ id: (await repository.save({})).id })
    return { ...seen, uuid: uuid.length }
  })
  for (const column of ['bit', 'tiny', 'flag', 'small', 'big', 'exact', 'fixed', 'latin', 'bytes', 'someBytes', 'text', 'blob', 'day', 'time', 'moment', 'stamp', 'year', 'choice', 'uuid']) {
    await step(`find by ${column}`, () => repository.countBy({ [column]: ROW[column] }))
  }
  for (const [column, value] of Object.entries({ tiny: 200, exact: '123456789012345', fixed: 'too long', choice: 'z', choices: ['w'], day: '2023-02-30', document: undefined })) {
    await step(`${column} out of range`, () => column === 'document' ? refused(() => repository.query("INSERT INTO every_type (uuid, document) VALUES ('x', '{')")) : refused(() => repository.insert({ [column]: value })))
  }
}
