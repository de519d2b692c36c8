import { expect, test } from 'vitest'
import type { Graph } from '../../api/types'
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

test('a shape finds what begins with it, up to the end of a number', () => {
  const { trace, graph } = load('broadcasting')
  const id = graph.boxes.find(({ tensor }) => tensor)!.tensor
  const tensors = trace.tensors.map((one) => (one.id === id ? { ...one, shape: [4, 16, 8] } : one))
  const found = (query: string) => search(graph, new TraceIndex({ ...trace, tensors }), query, said).length
  expect([found('4x16') > 0, found('4x16x8') > 0, found('4x1'), found('16x8')]).toEqual([true, true, 0, 0])
})

test('a shape finds what has it, and nothing else', () => {
  const { trace, graph } = load('broadcasting')
  const index = new TraceIndex(trace)
  const found = search(graph, index, '2x3', said).map(({ selection }) => selection)
  const boxes = graph.boxes.filter((box) => index.tensor(box.tensor)?.shape.join() === '2,3')
  expect(boxes.length).toBeGreaterThan(0)
  expect(found.filter(({ kind }) => kind === 'box')).toEqual(boxes.map(({ id }) => ({ kind: 'box', id })))
  const prices = trace.program.code.split('\n').findIndex((line) => line.startsWith('prices')) + 1
  expect(found.filter(({ kind }) => kind !== 'box')).toEqual([{ kind: 'line', line: prices }])
})

test('infinite elements are found by their sign, and are no large norm of a value', () => {
  const { trace, graph } = load('broadcasting')
  const id = graph.boxes.find(({ tensor }) => tensor)!.tensor
  const data = ['-inf', 0]
  const tensors = trace.tensors.map((one) => (one.id === id ? { ...one, shape: [2], data, summary: null } : one))
  const found = (query: string) =>
    search(graph, new TraceIndex({ ...trace, tensors } as typeof trace), query, said).length > 0
  expect(['inf', '-inf', '−inf'].map(found)).toEqual([true, true, true])
  expect(['+inf', 'nan', 'norm > 1e30'].map(found)).toEqual([false, false, false])
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

test('boxes that read alike are told apart by their values', () => {
  const { trace, graph } = load('scalar_expression')
  const [op, other] = graph.boxes.filter(({ kind }) => kind === 'op')
  const details = (boxes: Graph['boxes']): string[] =>
    search({ ...graph, boxes }, new TraceIndex(trace), 'twin', said).map(({ detail }) => detail)
  const twins = [op!, other!].map((box) => ({ ...box, name: 'twin', title: 'Same' }))
  expect(new Set(details(twins)).size).toBe(2)
  expect(details(twins.slice(0, 1))[0]).toBe(details(twins)[0]!.split(' ').slice(0, -1).join(' '))
})

test('what the library does to fill a parameter is no hit', () => {
  const { trace } = load('distributed_data_parallel')
  expect(trace.ops.some(({ name }) => name === 'empty')).toBe(true)
  expect(hits('distributed_data_parallel', 'empty')).toEqual([])
})

test('conditions and words hold together', () => {
  const all = hits('attention', 'norm >= 0')
  const some = hits('attention', 'softmax norm >= 0')
  expect(some.length).toBeGreaterThan(0)
  expect(some.length).toBeLessThan(all.length)
})

test('a line is found by its number, and a dtype by its name', () => {
  expect(hits('accumulation', 'line 2')).toContain('2')
  const { trace, graph } = load('broadcasting')
  const { id, span } = graph.boxes.find(({ kind }) => kind !== 'leaf')!
  for (const query of [`line ${span!.line}`, `第 ${span!.line} 行`, `${span!.line}`])
    expect(search(graph, new TraceIndex(trace), query, said).map(({ key }) => key)).toContain(id)
  expect(hits('accumulation', 'float32').length).toBeGreaterThan(0)
  expect(hits('accumulation', 'nan')).toEqual([])
})

test('what another pass or root draws is found, told where it is, and gone to', () => {
  const { trace, graph } = load('accumulation')
  const index = new TraceIndex(trace)
  const words = wordsOf({ 'search.elsewhere': 'elsewhere {place}', 'pass.name': '#{n}' })
  const others = search(graph, index, 'elsewhere', words)
  expect(others.length).toBeGreaterThan(0)
  const drawn = new Set(graph.boxes.map(({ id }) => id))
  for (const { selection, go, detail } of others) {
    if (selection.kind !== 'box') continue
    expect(drawn.has(selection.id)).toBe(false)
    const { pass } = index.event(go!.step!)!
    expect(index.passes.get(pass!)!.visits.some(({ node }) => node === selection.id)).toBe(true)
    expect(detail).toContain(`#${pass!.slice(1)}`)
  }
  expect(others.map(({ name }) => name)).toEqual(expect.arrayContaining(['first', 'second']))
})

test('a result that no pass ran over is found under its root, and what nothing draws at its line', () => {
  const { trace, graph } = load('accumulation')
  const last = trace.nodes.find(({ id }) => id === graph.boxes.at(-1)!.node)!
  const other = { ...last, id: 'n900', op: 'o900' }
  const op = { ...trace.ops.find(({ id }) => id === last.op)!, id: 'o900', nodes: ['n900'] }
  const span = { line: 99, end_line: 99, column: 0, end_column: 5 }
  const lone = { ...op, id: 'o901', name: 'argsort', nodes: [], outputs: ['t900'], span }
  const result = trace.tensors.find(({ id }) => id === op.outputs[0])!
  const made = { ...result, id: 't900', identity: null, names: ['aside'] }
  const roots = [...graph.roots, { id: 'n900', name: 'spare' }]
  const more = {
    ...trace, nodes: [...trace.nodes, other], ops: [...trace.ops, op, lone], tensors: [...trace.tensors, made],
  }
  const found = (query: string) => search({ ...graph, roots }, new TraceIndex(more), query, said)
  expect(found(last.type).map(({ selection, go }) => [selection, go])).toContainEqual([
    { kind: 'box', id: 'n900' }, { root: 'n900', pass: null },
  ])
  expect(found('argsort').map(({ selection, go }) => [selection, go])).toEqual([[{ kind: 'line', line: 99 }, {}]])
})
