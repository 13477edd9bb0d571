// Trees: a closure table and materialised paths.
const { step } = require('../node/steps')

const shape = node => [node.name, (node.children || []).map(shape)]

async function grow(source, entity) {
  const repository = source.getTreeRepository(entity)
  await step(`${entity}: grow`, async () => {
    const root = await repository.save({ name: 'root' })
    const left = await repository.save({ name: 'left', parent: root })
    await repository.save({ name: 'right', parent: root })
    await repository.save({ name: 'leaf', parent: left })
  })
  const node = name => repository.findOneByOrFail({ name })
  await step(`${entity}: trees`, async () => (await repository.findTrees()).map(shape))
  await step(`${entity}: descendants`, async () => [await repository.countDescendants(await node('left')), shape(await repository.findDescendantsTree(await node('root')))])
  await step(`${entity}: ancestors`, async () => (await repository.findAncestors(await node('leaf'))).map(found => found.name).sort())
  await step(`${entity}: remove`, async () => {
    await repository.remove(await node('leaf'))
    return (await repository.findTrees()).map(shape)
  })
}

module.exports = async source => {
  await grow(source, 'Category')
  await grow(source, 'Place')
}
