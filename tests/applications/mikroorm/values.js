// A value of each type, flushed and read again by another unit of work, and found by each column.
const { refused, step } = require('../node/steps')

const ROW = {
  tiny: -128, flag: false, small: 65535, medium: -8388608, whole: 2147483647, single: 0.5, double: -1.25e100, exact: '12345678901234.567890', fixed: 'abc', short: 'naïve 漢字 🐬', text: 'l1\nl2\t\\ \'"', longText: 'l'.repeat(70000),
  bytes: Buffer.from([0, 39, 92, 255]), moment: new Date('2024-02-29T12:34:56.789Z'), stamp: new Date('2001-09-09T01:46:40Z'), day: '2024-02-29', time: '23:59:58', uuid: '6fa459ea-ee8a-3ca4-894e-db77e160355e', choice: 'c d', choices: 'x,y',
  list: ['1', '2'], document: { list: [1, 2.5, null], deep: { é: true } }, year: 2024,
}

module.exports = async orm => {
  const fork = () => orm.em.fork()
  await step('a row of every type', async () => { const em = fork(); em.create('EveryType', ROW); await em.flush() })
  await step('read it', async () => {
    const { longText, ...seen } = await fork().findOneOrFail('EveryType', { short: ROW.short })
    return { ...seen, longText: longText.length }
  })
  await step('a row of defaults', async () => {
    const em = fork()
    em.create('EveryType', {})
    await em.flush()
    const { stamp, ...seen } = await fork().findOneOrFail('EveryType', { short: 'as it is' })
    return seen
  })
  for (const column of Object.keys(ROW).filter(name => !['longText', 'document', 'list', 'single'].includes(name))) await step(`find by ${column}`, () => fork().count('EveryType', { [column]: ROW[column] }))
  for (const [column, value] of Object.entries({ tiny: 200, exact: '123456789012345', fixed: 'abcdef', choice: 'z', day: '2023-02-30', year: 1800 })) await step(`${column} out of range`, () => refused(() => fork().insert('EveryType', { [column]: value })))
}
