import { expect, test } from 'vitest'
import { load, NAMES } from '../fixtures/load'
import { words } from '../words/bundled'
import { passName } from './naming'
import { chapters, toldAt } from './text-walk'
import { TraceIndex } from './trace-index'

test.each(NAMES)('the chapters of %s hold each step once', (name) => {
  const index = new TraceIndex(load(name).trace)
  const found = chapters(index, words('en'))
  const steps = found.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, at) => first + at))
  expect(steps).toEqual(index.trace.timeline.map((_, at) => at + 1))
  const titles = found.map(({ title }) => title)
  for (const pass of index.trace.passes) expect(titles).toContain(passName(pass, words('en')))
})

test('a sentence carries its numbers', () => {
  const index = new TraceIndex(load('scalar_expression').trace)
  const at = index.trace.timeline.findIndex(({ kind }) => kind === 'visit') + 1
  expect(toldAt(index, at, words('zh'))).toMatchObject({ text: '访问 y，收到：', value: '1；送出 1 → x ** 2 + 3 * x' })
})

test('what the library does to fill parameters is one sentence, what the program fills itself is its own', () => {
  const index = new TraceIndex(load('distributed_data_parallel').trace)
  const told = [3, 4, 5, 6].map((step) => toldAt(index, step, words('en')))
  expect(new Set(told.map((each) => JSON.stringify(each))).size).toBe(1)
  expect(told[0]).toEqual({ first: 3, last: 6, text: 'nn.Linear(2, 1) fills 2 parameters', value: '' })
  const { trace } = index
  const within = trace.ops.map((op) => (op.name === 'constant_' ? { ...op, name: 'fill_' } : op))
  for (const of of [index, new TraceIndex({ ...trace, ops: within })])
    expect(toldAt(of, 7, words('en'))).toMatchObject({ first: 7, last: 7 })
})

test('a write is one sentence, also of a part that is put back where it is', () => {
  const { trace } = load('scalar_expression')
  const code = 'x[0] -= 1'
  const span = { line: 1, end_line: 1, column: 0, end_column: 9 }
  const [op] = trace.ops
  const walk = (target: number, isRecorded = false) => {
    const part = { ...span, column: target, end_column: target + 4 }
    const ops = [
      { ...op!, id: 'o90', name: 'sub_', in_place: true, inputs: ['t1'], outputs: ['t2'], nodes: [], span },
      {
        ...op!, id: 'o91', name: 'setitem', in_place: true, outputs: ['t1'], nodes: [], span: part,
        arguments: [{ tensor: 't1' }, { text: '0' }, { tensor: 't2' }],
      },
    ]
    const updates = ops.map(({ id }, at) => ({
      id: `u9${at}`, kind: 'data' as const, op: id, changes: [{ name: code.slice(0, 4), before: 't1', after: 't2' }],
    }))
    const timeline = ops.flatMap(({ id }, at) => [
      { kind: 'op' as const, op: id },
      ...isRecorded ? [] : [{ kind: 'update' as const, op: id, update: `u9${at}` }],
    ])
    const tensors = trace.tensors.map((one) => (one.id === 't2' ? { ...one, identity: 't1' } : one))
    const index = new TraceIndex({ ...trace, program: { code }, tensors, ops, updates, timeline, passes: [] })
    return timeline.map((_, at) => at + 1).map((step) => toldAt(index, step, words('en')))
  }
  const one = { first: 1, last: 4, text: "Write to x[0] behind autograd's back:", value: '2 → 4' }
  expect(walk(0)).toEqual([one, one, one, one])
  expect(walk(5).map(({ first, last }) => [first, last])).toEqual([[1, 2], [1, 2], [3, 4], [3, 4]])
  const recorded = { first: 1, last: 2, text: 'Change x[0] in place:', value: '2 → 4' }
  expect(walk(0, true)).toEqual([recorded, recorded])
  expect(walk(5, true).map(({ value }) => value)).toEqual(['2 → 4', '4'])
})

test('a flag that is set is told by the call, and nothing is computed', () => {
  const { trace } = load('scalar_expression')
  const ops = trace.ops.map((op, at) => (at === 0 ? { ...op, name: 'requires_grad_' } : op))
  const told = toldAt(new TraceIndex({ ...trace, ops }), 1, words('en'))
  expect(told).toMatchObject({ text: 'torch.tensor(2.0, requires_… · x', value: '' })
})

test('calls of the library that stand at different places are told apart', () => {
  const index = new TraceIndex(load('attention').trace)
  const told = [2, 3, 4, 5, 6, 7].map((step) => toldAt(index, step, words('zh')))
  expect(told.map(({ first, last }) => [first, last])).toEqual([[2, 3], [2, 3], [4, 5], [4, 5], [6, 7], [6, 7]])
  expect(told[0]!.text).toBe('nn.Linear(width, width, bias=False) 给 1 个参数填入数值')
})
