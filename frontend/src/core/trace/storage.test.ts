import { expect, test } from 'vitest'
import type { Tensor, Trace } from '../../api/types'
import { History } from './history'
import { aliasGroups, relationOf, stateNames, type AliasGroup } from './storage'
import { TraceIndex } from './trace-index'

// y is saved by two nodes at version 0; the first is visited before the write, the second after it.
function story(bumped: boolean, version: number, after = [3, 4]): Trace {
  return {
    program: { code: '' },
    variables: [],
    tensors: [
      { id: 't1', shape: [2], dtype: 'float32', role: 'result', storage: 's1', names: ['y'], data: [1, 2] },
      { id: 't2', shape: [1], dtype: 'float32', role: 'result', storage: 's1', base: 't1' },
      { id: 't3', shape: [2], dtype: 'float32', role: 'result', storage: 's1' },
      { id: 't4', shape: [2], dtype: 'float32', role: 'result', storage: 's1', identity: 't1', data: after, version },
    ],
    ops: [
      { id: 'o1', name: 'mul', function: '', arguments: [], inputs: ['t1'], outputs: ['t9'], nodes: ['n1'] },
      { id: 'o2', name: 'exp', function: '', arguments: [], inputs: ['t1'], outputs: ['t8'], nodes: ['n2'] },
      { id: 'o3', name: 'add_', function: '', arguments: [], inputs: ['t1'], outputs: ['t4'], nodes: [] },
      { id: 'o4', name: 'detach', function: '', arguments: [], inputs: ['t1'], outputs: ['t3'], nodes: [] },
    ],
    nodes: [
      {
        id: 'n1',
        type: 'MulBackward0',
        edges: [],
        op: 'o1',
        saved: [
          { field: 'self', tensor: 't1', version: 0 }, { field: 'alpha', text: '1' },
        ],
      },
      { id: 'n2', type: 'ExpBackward0', edges: [], op: 'o2', saved: [{ field: 'result', tensor: 't1', version: 0 }] },
    ],
    passes: [
      { id: 'p1', kind: 'backward', roots: [], accumulations: [], visits: [{ node: 'n1', entered: [], left: [] }] },
      { id: 'p2', kind: 'backward', roots: [], accumulations: [], visits: [], failed: true, failed_node: 'n2' },
    ],
    updates: [],
    modules: [],
    storages: [{ id: 's1', tensors: ['t1', 't2', 't3'], writes: [{ tensor: 't4', version, bumped, op: 'o3' }] }],
    timeline: [
      { kind: 'op', op: 'o1' }, { kind: 'op', op: 'o2' }, { kind: 'pass', pass: 'p1' },
      { kind: 'visit', pass: 'p1', visit: 0 }, { kind: 'pass_end', pass: 'p1' }, { kind: 'op', op: 'o3' },
      { kind: 'pass', pass: 'p2' }, { kind: 'pass_end', pass: 'p2' },
    ],
  } as unknown as Trace
}

function groupsOf(trace: Trace): AliasGroup[] {
  return aliasGroups(new History(new TraceIndex(trace)))
}

test('a write after the visit does no harm; one before it changes what was saved', () => {
  const [group] = groupsOf(story(true, 1))
  expect(group!.saved.map((one) => [one.node.id, one.verdict, one.now])).toEqual([
    ['n1', 'same', 0], ['n2', 'changed', 1],
  ])
  expect(group!.saved.map((one) => [one.from, one.used])).toEqual([
    [1, 4], [2, 8],
  ])
  expect(group!.trouble).toBe(true)
  expect(group!.writes.map((one) => one.step)).toEqual([6])
})

test('a write the version does not tell of is a silent one', () => {
  const [group] = groupsOf(story(false, 0))
  expect(group!.saved.map((one) => one.verdict)).toEqual(['same', 'silent'])
})

test('a write that leaves what stood there does no harm, nor one of contents that were not kept', () => {
  const verdicts = (trace: Trace): string[] => groupsOf(trace)[0]!.saved.map((one) => one.verdict)
  expect(verdicts(story(false, 0, [1, 2]))).toEqual(['same', 'same'])
  const [saved, ...others] = story(false, 0).tensors
  expect(verdicts({ ...story(false, 0), tensors: [{ ...saved!, data: null }, ...others] })).toEqual(['same', 'same'])
})

test('a write into a tensor that is gone is told by what wrote', () => {
  const trace = story(false, 0)
  const tensors = trace.tensors.map((tensor) => (tensor.id === 't4' ? { ...tensor, identity: 't3' } : tensor))
  const verdicts = (...tensors: Tensor[]): string[] =>
    groupsOf({ ...trace, tensors })[0]!.saved.map((one) => one.verdict)
  expect(verdicts(...tensors)).toEqual(['same', 'silent'])
  const [saved, ...others] = tensors
  expect(verdicts({ ...saved!, size_bytes: 4 }, ...others)).toEqual(['same', 'same']) // maybe other cells of it
})

test('a node that normalized by the batch does not use the running statistics that it keeps', () => {
  const trace = story(false, 0)
  const nodes = trace.nodes.map((node) => ({
    ...node,
    saved: [{ field: 'running_mean', tensor: 't1' }, { field: 'training', text: 'True' }],
  }))
  expect(groupsOf({ ...trace, nodes })[0]!.saved.map((one) => one.verdict)).toEqual(['unused', 'unused'])
})

test('of several visits the one after a write meets what it changed', () => {
  const trace = story(true, 1)
  trace.passes[1]!.failed_node = 'n1'
  expect(groupsOf(trace)[0]!.saved[0]).toMatchObject({ verdict: 'changed', used: 8, now: 1 })
})

test('what no pass came to is unused', () => {
  const trace = story(true, 1)
  const [group] = groupsOf({ ...trace, passes: [], timeline: trace.timeline.slice(0, 2) })
  expect(group!.saved.map((one) => one.verdict)).toEqual(['unused', 'unused'])
  expect(group!.trouble).toBe(false)
})

test('how tensors came to share memory', () => {
  const index = new TraceIndex(story(true, 1))
  expect(index.trace.tensors.slice(0, 3).map((tensor) => relationOf(index, tensor))).toEqual(['own', 'view', 'detach'])
})

test('what an optimizer keeps is told by its name and its parameter', () => {
  const trace = story(true, 1)
  trace.updates = [
    {
      id: 'u1', kind: 'step', changes: [],
      state: [
        { before: null, after: 't8', name: 'exp_avg', parameter: 't1' },
        { before: null, after: null, name: 'step', parameter: 't1', after_text: '1' },
      ],
    },
  ] as unknown as Trace['updates']
  expect([...stateNames(new TraceIndex(trace))]).toEqual([['t8', 'y · exp_avg']])
})

test('what backward adds to a gradient in place is written where it adds', () => {
  const { ops, ...told } = story(true, 1)
  const [group] = groupsOf({
    ...told,
    ops: ops.slice(0, 1),
    passes: [{
      id: 'p1', kind: 'backward', roots: [], visits: [],
      accumulations: [{ tensor: 't1', node: 'n1', visit: 0, before: 't2', delta: 't5', after: 't3' }],
    }],
    storages: [{
      id: 's1', tensors: ['t2'],
      writes: [{ tensor: 't2', version: 1, bumped: true, op: 'o1' }, { tensor: 't3', version: 2, bumped: true }],
    }],
    timeline: [
      { kind: 'op', op: 'o1' }, { kind: 'pass', pass: 'p1' }, { kind: 'accumulate', pass: 'p1', accumulation: 0 },
    ],
  } as Trace)
  expect(group!.writes.map(({ step }) => step)).toEqual([1, 3])
})

test('the writes told of are not all where some were left out, or turns of a loop', () => {
  const trace = story(true, 1)
  const isWhole = (trace: Trace): boolean => groupsOf(trace)[0]!.isWhole
  const [storage] = trace.storages!
  const gap = { kind: 'gap' as const, index: 0 }
  expect([
    isWhole(trace),
    isWhole({ ...trace, storages: [{ ...storage!, writes_omitted: 325 }] }),
    isWhole({ ...trace, gaps: [{ passes: 9, ops: 9 }], timeline: [...trace.timeline, gap] }),
  ]).toEqual([true, false, false])
})
