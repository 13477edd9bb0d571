// A value of each type, written by a model and read again; what does not fit is refused.
const { refused, step } = require('../node/steps')

const ROW = {
  tiny: -128, small: 65535, medium: -8388608, whole: 42, big: '18446744073709551615', single: 1.5, double: -2.2250738585072014e-308,
  exact: '12345678901234.567891', flag: true, fixed: 'abc', short: 'naïve 漢字 🐬', bytes: 'bytes', tinyText: 't', text: 'line\nline\ttab\\ \'"', mediumText: 'm',
  longText: 'l'.repeat(70000), tinyBlob: Buffer.from([0, 1, 255]), blob: Buffer.from('blob\0'), mediumBlob: Buffer.alloc(3, 7), longBlob: Buffer.from([39, 34, 92]),
  moment: new Date('2024-02-29T23:59:59.987Z'), second: new Date('1970-01-02T00:00:00Z'), day: '1999-12-31', time: '23:59:58',
  uuid: '6fa459ea-ee8a-3ca4-894e-db77e160355e', choice: 'it\'s', document: { list: [1, 2.5, null, 'x'], nested: { deep: true }, text: 'é' },
}

module.exports = async ({ EveryType }) => {
  let key
  await step('create a row of every type', async () => { key = (await EveryType.create(ROW)).id })
  await step('read it', async () => {
    const row = (await EveryType.findByPk(key)).toJSON()
    return { ...row, longText: row.longText.length }
  })
  await step('read it raw', async () => {
    const row = await EveryType.findByPk(key, { raw: true })
    return { ...row, longText: row.longText.length }
  })
  await step('create a row of defaults', async () => (await EveryType.findByPk((await EveryType.create({})).id)).toJSON())
  for (const [column, value] of Object.entries({ moment: ROW.moment, day: ROW.day, time: ROW.time, exact: ROW.exact, big: ROW.big, uuid: ROW.uuid, choice: ROW.choice, short: ROW.short, fixed: ROW.fixed })) {
    await step(`find by ${column}`, async () => EveryType.count({ where: { [column]: value } }))
  }
  for (const [column, value] of Object.entries({ tiny: 128, exact: '123456789012345.1', fixed: 'abcdef', small: -1, day: '2023-02-30' })) {
    await step(`${column} out of range`, () => refused(() => EveryType.create({ [column]: value }, { validate: false })))
  }
  await step('update every column', async () => {
    await EveryType.update({ ...ROW, short: 'changed', choice: 'a', document: [] }, { where: { id: key } })
    const row = (await EveryType.findByPk(key)).toJSON()
    return [row.short, row.computed, row.document]
  })
}
