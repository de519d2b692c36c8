import { expect, test } from 'vitest'
import type { Engine, Trace } from '../../api/types'
import { engineAt, passAt, timesOf, visitsBy } from './engine-steps'
import { TraceIndex } from './trace-index'

// y = x * x + 3 * x: Add (n3) sends to both Muls (n1, n2); the one made last (n2) goes first; x (n0) gets 3 + 2 + 2.
const engine: Engine = {
  format: 'gradgraph.engine/1',
  pass: 'p1',
  total: 4,
  from: 0,
  agrees: true,
  state: {
    open: [
      { node: 'n0', count: 3 }, { node: 'n1', count: 1 }, { node: 'n2', count: 1 },
    ],
    arrived: [{ node: 'n3', input_nr: 0, tensor: 't1' }],
    queue: ['n3'],
  },
  steps: [
    {
      node: 'n3',
      outcome: 'ran',
      visit: 0,
      queue: ['n3'],
      queued: 1,
      sent: [
        { node: 'n1', input_nr: 0, tensor: 't1', source: 'n3' },
        { node: 'n2', input_nr: 0, tensor: 't1', source: 'n3', slot: 1 },
      ],
      closed: [
        { node: 'n1', count: 0 }, { node: 'n2', count: 0 },
      ],
      ready: ['n1', 'n2'],
    },
    {
      node: 'n2', outcome: 'ran', visit: 1, queue: ['n2', 'n1'], queued: 2,
      sent: [{ node: 'n0', input_nr: 0, tensor: 't2', source: 'n2' }], closed: [{ node: 'n0', count: 2 }],
    },
    {
      node: 'n1',
      outcome: 'ran',
      visit: 2,
      queue: ['n1'],
      queued: 1,
      sent: [
        { node: 'n0', input_nr: 0, tensor: 't3', source: 'n1' },
        { node: 'n0', input_nr: 0, tensor: 't3', source: 'n1', slot: 1 },
      ],
      closed: [
        { node: 'n0', count: 1 }, { node: 'n0', count: 0 },
      ],
      ready: ['n0'],
    },
    { node: 'n0', outcome: 'ran', visit: 3, queue: ['n0'], queued: 1 },
  ],
}

const index = new TraceIndex({
  tensors: [],
  ops: [],
  nodes: ['n0', 'n1', 'n2', 'n3'].map((id) => ({ id, type: 'X', edges: [] })),
  passes: [
    {
      id: 'p1', kind: 'backward', roots: [], accumulations: [],
      visits: ['n3', 'n2', 'n1', 'n0'].map((node) => ({ node, entered: [], left: [] })),
    },
  ],
  updates: [],
  modules: [],
  timeline: [
    { kind: 'op' },
    { kind: 'pass', pass: 'p1' },
    ...[0, 1, 2, 3].map((visit) => ({ kind: 'visit', pass: 'p1', visit })),
    { kind: 'pass_end', pass: 'p1' },
  ],
} as unknown as Trace)

test('before the first node all dependencies are open and the seed waits', () => {
  const begin = engineAt(engine, 0)
  expect(begin.last).toBeNull()
  expect(begin.queue).toEqual(['n3'])
  expect(begin.open.get('n0')).toBe(3)
  expect(begin.waiting.get('n3')).toHaveLength(1)
})

test('each node closes dependencies and fills buffers', () => {
  const second = engineAt(engine, 2)
  expect(second.last?.node).toBe('n2')
  expect(second.queue).toEqual(['n1'])
  expect([...second.open]).toEqual([['n0', 2]])
  expect(second.waiting.get('n0')?.map((one) => one.tensor)).toEqual(['t2'])
  const third = engineAt(engine, 3)
  expect(third.open.size).toBe(0)
  expect(third.waiting.get('n0')).toHaveLength(3)
})

test('after the last node nothing is left', () => {
  const end = engineAt(engine, 4)
  expect(end.queue).toEqual([])
  expect(end.waiting.size).toBe(0)
  expect(engineAt(engine, 99).next).toBe(4)
})

test('a later page begins where its state says', () => {
  const page: Engine = {
    ...engine,
    from: 2,
    state: { open: [{ node: 'n0', count: 2 }], arrived: [{ node: 'n1', input_nr: 0, tensor: 't1' }], queue: ['n1'] },
    steps: engine.steps.slice(2),
  }
  expect(engineAt(page, 2).queue).toEqual(['n1'])
  expect(engineAt(page, 3).last?.node).toBe('n1')
})

test('engine steps find their places in the timeline', () => {
  expect(timesOf(index, engine)).toEqual([3, 4, 5, 6])
  expect(
    timesOf(index, {
      ...engine,
      steps: [engine.steps[0]!, { node: 'n9', outcome: 'captured' }, { node: 'n2', outcome: 'failed' }],
    }),
  ).toEqual([3, 3, 7])
  expect([1, 2, 3, 5, 7].map((step) => visitsBy(index, 'p1', step))).toEqual([0, 0, 1, 3, 4])
})

test('the pass at a step', () => {
  expect(passAt(index, 0)).toBe('p1')
  expect(passAt(index, 4)).toBe('p1')
  const none = new TraceIndex({ ...index.trace, passes: [], timeline: [] })
  expect(passAt(none, 0)).toBeNull()
})
