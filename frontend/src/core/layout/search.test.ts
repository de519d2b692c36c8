import { expect, test } from 'vitest'
import { load, type Name } from '../fixtures/load'
import { TraceIndex } from '../trace/trace-index'
import { wireNumber } from '../words/format'
import { wordsOf } from '../words/sentences'
import { search } from './search'

const said = wordsOf({})

function hits(fixture: Name, query: string): string[] {
  const { trace, graph } = load(fixture)
  return search(graph, new TraceIndex(trace), query, said).map(({ name }) => name)
}

test('a shape finds what has it, and nothing else', () => {
  const { trace, graph } = load('broadcasting')
  const index = new TraceIndex(trace)
  const found = search(graph, index, '2x3', said).map(({ selection }) => selection)
  const boxes = graph.boxes.filter((box) => index.tensor(box.tensor)?.shape.join() === '2,3')
  expect(boxes.length).toBeGreaterThan(0)
  expect(found).toEqual(boxes.map(({ id }) => ({ kind: 'box', id })))
})

test('norms and gradients are compared with a number', () => {
  expect(hits('accumulation', 'grad > 0').length).toBeGreaterThan(0)
  expect(hits('accumulation', 'grad = 0')).toEqual([])
  expect(hits('accumulation', 'norm > 1e30')).toEqual([])
})

test('of gradients the sign counts, and a number that all elements are', () => {
  const { trace, graph } = load('accumulation')
  const leaf = graph.boxes.find(({ kind }) => kind === 'leaf')!
  const after = trace.passes.flatMap(({ accumulations }) => accumulations).findLast(({ delta }) => delta)!.after!
  const found = (data: number[], query: string): string[] => {
    const tensors = trace.tensors.map((one) => (one.id === after ? { ...one, data, summary: null } : one))
    return search(graph, new TraceIndex({ ...trace, tensors }), query, said).map(({ selection }) =>
      selection.kind === 'box' ? selection.id : '',
    )
  }
  for (const [data, query] of [
    [[-3, -3], 'grad = -3'], [[-3, -3], 'grad ＜ −2'], [[0.25, 0.25], 'grad = 0.25'], [[3, 4], 'grad ≥ 5'],
    [[2 / 3, 2 / 3], 'grad = 0.6667'], [[0, 0], 'grad = 0'],
  ] as const)
    expect(found([...data], query), query).toContain(leaf.id)
  for (const [data, query] of [[[-3, -3], 'grad = 3'], [[-3, -3], 'grad > 2'], [[0, 1], 'grad = 0']] as const)
    expect(found([...data], query), query).not.toContain(leaf.id)
})

test('parameters folded into a box are found by what they are like', () => {
  const { trace, graph } = load('attention')
  const index = new TraceIndex(trace)
  const folded = graph.boxes.flatMap(({ parameters }) => parameters ?? [])
  const shape = index.tensor(folded[0]!.tensor)!.shape.join('x')
  const alike = folded.filter(({ tensor }) => index.tensor(tensor)?.shape.join('x') === shape).map(({ name }) => name)
  expect(hits('attention', `${shape} weight`)).toEqual(alike)
  const norm = (id: string): number => Math.hypot(...index.tensor(id)!.data!.map(wireNumber))
  const { accumulations } = trace.passes[0]!
  const gradients = folded.map(({ tensor }) =>
    norm(accumulations.find((added) => index.identity(added.tensor) === index.identity(tensor))!.after!),
  )
  const least = Math.min(...gradients)
  expect(hits('attention', `weight grad <= ${least + 1e-9}`)).toEqual([folded[gradients.indexOf(least)]!.name])
})

test('a parameter that many boxes use is one hit', () => {
  const { trace, graph } = load('attention')
  const twice = { ...graph, boxes: graph.boxes.flatMap((box) => [box, { ...box, id: `${box.id} again` }]) }
  const names = (of: typeof graph) => search(of, new TraceIndex(trace), 'parameter', said).map(({ name }) => name)
  expect(names(graph).length).toBeGreaterThan(0)
  expect(names(twice)).toEqual(names(graph))
})

test('conditions and words hold together', () => {
  const all = hits('attention', 'norm >= 0')
  const some = hits('attention', 'softmax norm >= 0')
  expect(some.length).toBeGreaterThan(0)
  expect(some.length).toBeLessThan(all.length)
})

test('a line is found by its number, and a dtype by its name', () => {
  expect(hits('accumulation', 'line 2')).toContain('2')
  expect(hits('accumulation', 'float32').length).toBeGreaterThan(0)
  expect(hits('accumulation', 'nan')).toEqual([])
})
