import { expect, test } from 'vitest'
import { load } from '../fixtures/load'
import type { Box, Group, Step } from '../../api/types'
import { words } from '../words/bundled'
import { fillingsOf, placesOf } from './filling'
import { marksOf, Track } from './timeline'
import { bands, markLabel, named, turnsIn } from './timeline-names'
import { TraceIndex } from './trace-index'

/** Brackets of a run whose ops belonged to these modules, one step each. */
function bracketsOf(paths: readonly string[], width = 1000) {
  const { trace } = load('attention')
  const [op, module] = [trace.ops[0]!, trace.modules[0]!]
  const held = [...new Set(paths)].map((path) => ({ ...module, id: path, path, parent: 'net' }))
  const index = new TraceIndex({
    ...trace,
    modules: [{ ...module, id: 'net', path: 'net', parent: null }, ...held],
    ops: paths.map((path, at) => ({ ...op, id: `o${at}`, module: path })),
    timeline: paths.map((_, at) => ({ kind: 'op' as const, op: `o${at}` })),
  })
  return bands(index, new Track(index, 0, width))
}

test('a part that runs again after another has no bracket over the other', () => {
  const conv = Array<string>(90).fill('net.conv')
  expect(bracketsOf(['net.pool', ...conv, 'net.pool']).map(({ text }) => text)).toEqual(['conv'])
})

test('neighbours of one list share a bracket', () => {
  const blocks = Array.from({ length: 40 }, (_, at) => `net.blocks.${at}`)
  expect(bracketsOf(blocks).map(({ text }) => text)).toEqual(['blocks ×40'])
})

test('parts too short for what their lists are called share a coarser name, at last that of the model', () => {
  const layers = [1, 2, 3].flatMap((layer) => [0, 1].flatMap((at) => Array<string>(5).fill(`net.layer${layer}.${at}`)))
  const told = (width: number) => bracketsOf(layers, width).map(({ text }) => text)
  expect([1000, 300, 150, 70, 50, 30].map(told)).toEqual([
    ['layer1.0', 'layer1.1', 'layer2.0', 'layer2.1', 'layer3.0', 'layer3.1'],
    ['layer1 ×2', 'layer2 ×2', 'layer3 ×2'], ['layer1', 'layer2', 'layer3'], ['layer ×3'], ['layer'], ['net'],
  ])
})

test('where no part and no model has room stands what the pass begins with', () => {
  const { trace } = load('attention')
  const index = new TraceIndex({ ...trace, modules: [] })
  const parts = new Map(trace.ops.map(({ id }, at) => [id, `a part called ${'o'.repeat(at)}`]))
  const told = bands(index, new Track(index, 0, 1000), parts)
  expect([...new Set(told.map(({ text }) => text))]).toEqual(['mixed[0].sum()'])
})

test('brackets are over the turns of the outermost loop, and share one where they are short', () => {
  const group = (id: string, title: string, type = '', parent: string | null = null, repeat = 1) =>
    ({ id, title, type, kind: 'loop', parent, repeat }) as Group
  const groups = [
    group('l', 'for x, t in data', '', null, 3), ...['1', '2', '3'].map((n) => group(`t${n}`, n, 'for x, t', 'l')),
    group('m', 'for j in range(9)', '', 't1', 3), group('j0', 'j = 0', 'for j', 'm'), group('f', '1', 'neuron', 't2'),
  ]
  const boxes = [['o0', 'j0'], ['o1', 'f'], ['o2', 't3'], ['o3', null]].map(([op, group]) => ({ op, group }) as Box)
  const turns = turnsIn({ groups, boxes })
  expect([...turns]).toEqual([['o0', 'x, t 1'], ['o1', 'x, t 2'], ['o2', 'x, t 3']])
  const { trace } = load('attention')
  const ops = ['o0', 'o1', 'o2'].map((id) => ({ ...trace.ops[0]!, id }))
  const steps = (each: number) => ops.flatMap(({ id }) => Array(each).fill({ kind: 'op' as const, op: id }))
  const told = (each: number, width: number) => {
    const index = new TraceIndex({ ...trace, modules: [], ops, timeline: steps(each) })
    return bands(index, new Track(index, 0, width), turns).map(({ text }) => text)
  }
  expect(told(20, 1000)).toEqual(['x, t 1', 'x, t 2', 'x, t 3'])
  expect(told(20, 130)).toEqual(['x, t ×3'])
})

test('without a model brackets are over functions, and else over loops', () => {
  const { trace } = load('attention')
  const code = 'def f(x):\n    for i in x:\n        y = i * i\nfor t in range(9):\n    for u in y:\n        z = u * u\n'
  const lines = [3, 6].flatMap((line) => Array<number>(40).fill(line))
  const index = new TraceIndex({
    ...trace, modules: [], program: { ...trace.program, code },
    ops: lines.map((line, at) => ({
      ...trace.ops[0]!, id: `o${at}`, module: null, span: { line, end_line: line, column: 0, end_column: 1 },
    })),
    timeline: lines.map((_, at) => ({ kind: 'op' as const, op: `o${at}` })),
  })
  expect(bands(index, new Track(index, 0, 1000)).map(({ text }) => text)).toEqual(['f', 'for t in range(9)'])
})

test('a part that has only a number goes by the name of what holds it', () => {
  const paths = ['net.0', 'net.2'].flatMap((path) => Array<string>(20).fill(path))
  expect(bracketsOf(paths).map(({ text }) => text)).toEqual(['net.0', 'net.2'])
  const { trace } = load('attention')
  const held = { ...trace.modules[0]!, id: 'm', path: 'net.2' }
  const index = new TraceIndex({ ...trace, modules: [held], calls: [{ ...trace.calls![0]!, id: 'c', module: 'm' }] })
  const call = (path: string): string => {
    held.path = path
    return markLabel(index, { kind: 'call', call: 'c' } as Step, words('en'))
  }
  expect([call('net.2'), call('net.head'), call('net')]).toEqual(['net.2', 'head', 'net'])
})

test('a long name is cut, of a gradient to what the leaf is called in its module', () => {
  const { trace } = load('accumulation')
  const step = trace.timeline.find(({ kind }) => kind === 'accumulate')!
  const named = (name: string): string => {
    const tensors = trace.tensors.map((tensor) => ({ ...tensor, names: [name] }))
    return markLabel(new TraceIndex({ ...trace, tensors }), step, words('en'))
  }
  expect(['w', 'trunk.weight', 'net.layers[0].w[2]', 'a_long_name_of_a_leaf'].map(named)).toEqual([
    'w.grad', 'weight.grad', 'w[2].grad', 'a_long_na…rad',
  ])
})

test('what a layer is filled with is one mark, named after the layer', () => {
  const index = new TraceIndex(load('attention').trace)
  const [filling] = fillingsOf(index)
  const track = new Track(index, 0, 4000, placesOf(index))
  const marks = named(index, marksOf(index, track), track, words('en'))
  expect(marks.filter(({ step }) => filling!.first <= step && step <= filling!.last)).toMatchObject([
    { step: filling!.last, label: 'Linear' },
  ])
  const before = filling!.first - 1
  expect([track.from(before, 1), track.from(filling!.last, -1), track.from(before, -Infinity)]).toEqual([
    filling!.last, before, 0,
  ])
  expect(track.near(track.at(filling!.first))).toBe(filling!.last)
})
