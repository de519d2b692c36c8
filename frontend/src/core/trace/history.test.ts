import { describe, expect, test } from 'vitest'
import type { Step, Tensor, Variable } from '../../api/types'
import { load } from '../fixtures/load'
import { TraceIndex, passOfStep } from './trace-index'
import { words } from '../words/bundled'
import { marksAt } from './step-marks'
import { brief } from './naming'
import { tell } from './story'
import { cutTrace } from './cut'
import { History } from './history'
import { marksOf, Track } from './timeline'
import { named } from './timeline-names'

const { trace, graph } = load('accumulation')
const index = new TraceIndex(trace)
const then = new History(index)
const total = trace.timeline.length
const text = (id: string | null): string => (id === null ? 'None' : brief(index.tensor(id)!))

test('a ledger holds every pass and reset of a leaf, in order', () => {
  const [account] = then.accounts
  expect(account?.name).toBe('w')
  expect(account?.entries.map((entry) => entry.kind)).toEqual(['pass', 'pass', 'reset', 'pass'])
  const after = account?.entries.map((entry) => text(entry.kind === 'pass' ? entry.accumulation.after : entry.after))
  expect(after).toEqual(['[2, −4]', '[5, −1]', '[0, 0]', '[3, 3]'])
})

test('a leaf that another one replaced before any gradient came is no account', () => {
  const w = index.tensor(then.accounts[0]!.leaf)!
  const born = (id: string, names: string[]) => ({ ...w, id, identity: undefined, names })
  const first = {
    ...trace,
    tensors: [born('t900', ['w']), born('t901', ['kept']), ...trace.tensors, born('t902', ['v']), born('t903', ['v'])],
  }
  expect(new History(new TraceIndex(first)).accounts.map((account) => account.leaf)).toEqual(['t901', w.id, 't903'])
})

test('leaves of the same name in two functions have a ledger each', () => {
  const code = 'def f():\n    w = torch.ones(1)\n\ndef g():\n    w = torch.ones(1)\n\nw = f()'
  const tensor = (id: string, more: object = {}) => ({
    id, shape: [1], dtype: 'float32', role: 'leaf' as const, requires_grad: true, names: ['w'], ...more,
  })
  const grad = (id: string) => tensor(id, { role: 'gradient', requires_grad: false, names: ['w.grad'] })
  const made = (id: string, output: string, line: number) => ({
    ...trace.ops[0]!, id, outputs: [output], span: { line, end_line: line, column: 8, end_column: 21 },
  })
  const added = (id: string, leaf: string, after: string) => ({
    ...trace.passes[0]!, id, visits: [],
    accumulations: [{ tensor: leaf, node: 'n1', visit: 0, before: null, delta: after, after }],
  })
  const two = new History(
    new TraceIndex({
      ...trace,
      program: { code },
      tensors: [tensor('t1'), tensor('t2'), grad('t3'), grad('t4'), tensor('t5')],
      ops: [made('o1', 't1', 2), made('o2', 't2', 5), made('o3', 't5', 5)],
      passes: [added('p1', 't1', 't3'), added('p2', 't2', 't4')],
      updates: [{ id: 'u1', kind: 'zero_grad', changes: [{ before: 't3', after: null, name: 'w.grad', leaf: 't1' }] }],
      variables: [{ name: 'w', kind: 'tensor', type: 'Tensor', tensor: 't1' }],
      timeline: [
        { kind: 'op', op: 'o1' }, { kind: 'op', op: 'o2' },
        { kind: 'accumulate', pass: 'p1', accumulation: 0 }, { kind: 'accumulate', pass: 'p2', accumulation: 0 },
        { kind: 'reset', update: 'u1' }, { kind: 'op', op: 'o3' },
      ],
    }),
  )
  expect(two.accounts.map(({ leaf, entries }) => [leaf, entries.map(({ kind }) => kind)])).toEqual([
    ['t1', ['pass', 'reset']], ['t2', ['pass']], ['t5', []],
  ])
  expect([two.gradAt('t1', 4), two.gradAt('t2', 4), two.gradAt('t1', 5), two.gradAt('t2', 5)]).toEqual([
    't3', 't4', null, 't4',
  ])
  expect(two.variablesAt(6)[0]?.tensor?.id).toBe('t1')
})

test('a leaf frozen before any gradient came is no account', () => {
  const w = index.tensor(then.accounts[0]!.leaf)!
  const born = { ...w, id: 't900', identity: undefined, names: ['frozen'] }
  const opened = (later: object) => {
    const tensors = [born, { ...born, id: 't901', identity: 't900', version: 1, ...later }, ...trace.tensors]
    return new History(new TraceIndex({ ...trace, tensors })).accounts.map((account) => account.leaf)
  }
  expect(opened({ requires_grad: false })).toEqual([w.id])
  expect(opened({})).toEqual(['t900', w.id])
})

test('a leaf that a call made on its way is no account unless a gradient came, a parameter is', () => {
  const w = index.tensor(then.accounts[0]!.leaf)!
  const [op] = trace.ops
  const opened = (inside: boolean, role: 'leaf' | 'parameter') => {
    const inner = { ...w, id: 't900', identity: undefined, names: ['t'], role }
    const ops = [...trace.ops, { ...op!, id: 'o900', outputs: ['t900'], inside }]
    return new History(new TraceIndex({ ...trace, ops, tensors: [inner, ...trace.tensors] })).accounts.length
  }
  expect([opened(false, 'leaf'), opened(true, 'leaf'), opened(true, 'parameter')]).toEqual([2, 1, 2])
})

test('a .grad is None before it arrives, and what it was after each step', () => {
  const leaf = then.accounts[0]!.leaf
  const first = then.accounts[0]!.entries[0]!.step
  expect(then.gradAt(leaf, first - 1)).toBeNull()
  expect(text(then.gradAt(leaf, first))).toBe('[2, −4]')
  expect(text(then.gradAt(leaf, total))).toBe('[3, 3]')
})

test('variables appear when they are made', () => {
  expect(then.variablesAt(0)).toEqual([])
  expect(then.variablesAt(1).map((entry) => entry.name)).toEqual(['w'])
  expect(then.variablesAt(total).map((entry) => entry.name)).toEqual(['w', 'first', 'second', 'third'])
})

test('what lies after a check of gradients belongs to the last pass that is none', () => {
  const code = trace.program.code.replaceAll('third.backward()', 'gradcheck(third)')
  const checked = { ...trace, program: { ...trace.program, code } }
  const [, own, check] = trace.passes.map((pass) => pass.id)
  const end = trace.timeline.findIndex((event) => event.kind === 'pass_end' && event.pass === check) + 1
  expect([end, end + 1].map((step) => passOfStep(checked, step))).toEqual([check, own])
})

test('a step belongs to the pass that follows its forward, one between to the pass before', () => {
  const ends = trace.timeline.flatMap((event, at) => (event.kind === 'pass_end' ? [at + 1] : []))
  expect(ends).toHaveLength(3)
  const passes = trace.passes.map((pass) => pass.id)
  expect(passOfStep(trace, 0)).toBe(passes[0])
  expect(passOfStep(trace, ends[0]!)).toBe(passes[0])
  expect(passOfStep(trace, ends[0]! + 1)).toBe(passes[0]) // print()
  expect(passOfStep(trace, ends[0]! + 2)).toBe(passes[1])
  const reset = trace.timeline.findIndex((event) => event.kind === 'reset') + 1
  expect(passOfStep(trace, reset)).toBe(passes[1])
  const calledBefore = (...more: Step[]) => ({
    ...trace, timeline: trace.timeline.toSpliced(ends[0]!, 0, { kind: 'call', call: 'c1' }, ...more),
  })
  expect(passOfStep(calledBefore(), ends[0]! + 1)).toBe(passes[1])
  expect(passOfStep(calledBefore({ kind: 'call_end', call: 'c1' }), ends[0]! + 1)).toBe(passes[0])
  const runsOn = calledBefore({ kind: 'visit', pass: passes[1]!, visit: 0 })
  expect([1, 2].map((more) => passOfStep(runsOn, ends[0]! + more))).toEqual(passes.slice(0, 2))
  expect(passOfStep(trace, total)).toBe(passes[2])
})

test('an op that no pass to come leads back to begins none: `print(loss * 2)` after `loss.backward()`', () => {
  const [first, second] = trace.passes.map((pass) => pass.id)
  const end = trace.timeline.findIndex(({ kind }) => kind === 'pass_end') + 1
  const of = trace.ops.find(({ nodes }) => nodes.includes(trace.passes[0]!.roots[0]!.node!))!
  const doubled = { ...of, id: 'o900', nodes: ['n900'] }
  const timeline = trace.timeline.toSpliced(end, 0, { kind: 'op', op: 'o900' })
  const node = { ...trace.nodes[0]!, id: 'n900', edges: [{ to: of.nodes[0]!, input_nr: 0 }] }
  const more = { ...trace, ops: [...trace.ops, doubled], nodes: [...trace.nodes, node], timeline }
  expect(passOfStep(more, end + 1)).toBe(first)
  expect(passOfStep(more, end + 3)).toBe(second)
  const passes = more.passes.map((pass) =>
    pass.id === second ? { ...pass, roots: [{ ...pass.roots[0]!, node: 'n900' }] } : pass,
  )
  expect(passOfStep({ ...more, passes }, end + 1)).toBe(second)
})

test('while a pass runs, the line that called it runs, and the node’s line has the gradient', () => {
  const at = trace.timeline.findIndex((event) => event.kind === 'visit') + 1
  const marks = marksAt(index, { step: at, selected: undefined, lit: new Set(), blocks: [] }, words('en'))
  const lines = trace.program.code.split('\n')
  expect(lines[marks.running! - 1]).toBe('first.backward()')
  expect(lines[marks.gradient! - 1]).toBe('first = (w ** 2).sum()')
  expect(lines[marks.next! - 1]).toContain('print(')
  expect(marks.done.has(1)).toBe(true)
  expect(marks.done.has(marks.next!)).toBe(false)
})

test('beside a line stands what it gave: of several results the one with a name', () => {
  const end = { step: trace.timeline.length, selected: undefined, lit: new Set<number>(), blocks: [] }
  const changed = structuredClone(trace)
  const [line, note] = [...marksAt(index, end, words('en')).notes]
    .find(([line]) => trace.ops.some(({ span }) => span?.line === line))!
  for (const op of changed.ops.filter(({ span, outputs }) => span?.line === line && outputs.length === 1)) {
    const given = changed.tensors.find(({ id }) => id === op.outputs[0])!
    Object.assign(given, { names: ['given'] })
    changed.tensors.push({ ...given, id: `other ${op.id}`, names: [], data: [1234] })
    op.outputs.unshift(`other ${op.id}`)
  }
  expect(marksAt(new TraceIndex(changed), end, words('en')).notes.get(line)).toBe(note)
})

test('of several ranks, what stands beside a line names the one that gave it', () => {
  const end = { step: trace.timeline.length, selected: undefined, lit: new Set<number>(), blocks: [] }
  const alone = [...marksAt(index, end, words('en')).notes]
  const ranked = new TraceIndex({ ...trace, ops: trace.ops.map((op) => ({ ...op, rank: 1 })) })
  expect([...marksAt(ranked, end, words('en')).notes]).toEqual(alone.map(([line, note]) => [line, `rank 1 · ${note}`]))
})

test('beside a line stands no argument and no part of its value', () => {
  const step = trace.timeline.length
  const own = trace.program.code.split('\n')
  const at = own.findIndex((text) => text.startsWith('first = '))
  const noted = (before: string, after: string, inside = false): string | undefined => {
    const code = own.map((text, place) => (place === at ? before + text.slice(before.length) + after : text)).join('\n')
    const ops = trace.ops.map((op) => ({ ...op, inside }))
    const other = new TraceIndex({ ...trace, program: { ...trace.program, code }, ops })
    const { notes } = marksAt(other, { step, selected: undefined, lit: new Set<number>(), blocks: [] }, words('en'))
    return notes.get(at + 1)
  }
  for (const [before, after] of [['first = ', ''], ['return  ', ''], ['first = ', '  # 5'], ['y = k = ', '']] as const)
    expect(noted(before, after), before + after).toBe('5')
  for (const [before, after] of [['print(a,', ')'], ['y = f(2,', ')'], ['first = ', ', 2'], ['        ', '']] as const)
    expect(noted(before, after), before + after).toBeUndefined()
  expect([noted('meter +=', ''), noted('        t += ', '')]).toEqual([undefined, '5'])
  expect(noted('first = ', '', true)).toBeUndefined()
})

test('an accumulation is told with its terms, in both languages', () => {
  const second = then.accounts[0]!.entries[1]!.step
  expect(tell(index, second, words('en'))).toEqual({
    text: 'Add to w.grad:', value: '[2, −4] + [3, 3] → [5, −1]', tone: 'gradient',
  })
  expect(tell(index, second, words('zh')).text).toBe('累加到 w.grad：')
  const long = (at: number): Tensor['data'] => Array.from({ length: 9 }, (_, n) => at + n)
  const tensors = index.trace.tensors.map((one, at) =>
    one.shape.length === 0 ? one : { ...one, shape: [9], data: long(at) })
  const large = new TraceIndex({ ...index.trace, tensors })
  expect(tell(large, second, words('en')).value).toMatch(/^2 gradients → ‖[\d.]+‖$/)
  expect(tell(large, then.accounts[0]!.entries[0]!.step, words('en')).value).toMatch(/^‖[\d.]+‖$/)
})

test('marks of the timeline keep to their side and their labels apart', () => {
  const track = new Track(index, 0, 1200)
  const marks = named(index, marksOf(index, track), track, words('en'))
  expect(marks).toHaveLength(total)
  for (const side of [true, false]) {
    let end = -Infinity
    for (const mark of marks.filter((one) => one.above === side)) {
      if (mark.label && mark.step < total) expect(mark.x).toBeGreaterThan(end)
      if (mark.label) end = mark.x + 10 + mark.label.length * 6
      if (mark.step < total) expect(end).toBeLessThanOrEqual(1200)
    }
  }
  expect(marksOf(index, new Track(index, 0, 100))).toEqual([])
  expect(track.at(total + 5)).toBe(track.at(total))
})

test('every step of every fixture can be told', () => {
  for (const name of ['attention', 'broadcasting', 'detach', 'hooks', 'scalar_expression'] as const) {
    const other = new TraceIndex(load(name).trace)
    for (let step = 1; step <= other.trace.timeline.length; step += 1) {
      const told = tell(other, step, words('zh'))
      expect(told.text, `${name} ${step}`).not.toBe('')
      expect(`${told.text}${told.value}`, `${name} ${step}`).not.toMatch(/undefined|\{\w+\}|NaN/)
    }
  }
})

test('the graph of the fixture is the one these tests speak of', () => {
  expect(graph.run).toBe(trace.id)
})

test('a ledger says where passes of a loop were left out', () => {
  const at = trace.timeline.findIndex((step) => step.kind === 'pass' && step.pass === 'p3')
  const timeline = [...trace.timeline.slice(0, at), { kind: 'gap' as const, index: 0 }, ...trace.timeline.slice(at)]
  const thinned = new TraceIndex({ ...trace, timeline, gaps: [{ passes: 7, ops: 21, first: 3, last: 9 }] })
  const entries = new History(thinned).accounts[0]!.entries
  expect(entries.map((entry) => entry.gap ?? 0)).toEqual([0, 0, 0, 7])
  const t = words('en')
  expect(tell(thinned, at + 1, t).text).toBe('Left out: passes 3–9 (7)')
  const track = new Track(thinned, 0, 4000)
  expect(named(thinned, marksOf(thinned, track), track, t)[at]).toMatchObject({ shape: 'gap', label: '… 7' })
})

describe('what a step tells of other names than tensors', () => {
  const code = [
    'def train():', '    return x * 2', 'n, pair = 3, (1, 2)', 'kept = [1]', 'net = nn.Linear(1, 1)', 'lazy = nn.LazyLinear(1)',
    'for _ in range(2):', '    late = 4', '    x = x * n', 'sgd = SGD([train()])', 'x * 3', 'k = 0', 'k = 5',
  ].join('\n')
  const value = (name: string, type: string, text?: string, kind: Variable['kind'] = 'value'): Variable =>
    ({ name, kind, type, ...(text && { text }) })
  const variables = [
    value('n', 'int', '3'), value('pair', 'tuple', '(1, 2)'), value('kept', 'list', '[1, 2]'),
    value('net', 'Linear', undefined, 'module'), value('lazy', 'Linear', undefined, 'module'),
    value('late', 'int', '4'), value('sgd', 'SGD', undefined, 'optimizer'), value('k', 'int', '5'),
  ]
  const steps = [3, 4, 5, 9, 2, 11, 13].map((line): Step => ({
    kind: 'output', span: { line, end_line: line, column: 0, end_column: 1 },
  }))
  const told = new History(
    new TraceIndex({
      ...trace, program: { code }, variables, timeline: steps, ops: [], passes: [], updates: [], tensors: [], nodes: [],
    }),
  )
  const at = (step: number): string[] =>
    told.variablesAt(step).map(({ name, variable }) => `${name} ${variable.text ?? variable.type}`)

  test('is what a line has bound for good, once one behind it runs', () => {
    expect(at(1)).toEqual([])
    expect(at(2)).toEqual(['n 3', 'pair (1, 2)'])
    expect(at(3)).toEqual(['n 3', 'pair (1, 2)', 'kept list'])
    expect(at(4)).toEqual(['n 3', 'pair (1, 2)', 'kept list', 'net Linear'])
    expect(at(6)).toEqual([...at(4), 'sgd SGD'])
  })

  test('is all at the end', () => {
    expect(at(7)).toEqual([
      'n 3', 'pair (1, 2)', 'kept [1, 2]', 'net Linear', 'lazy Linear', 'late 4', 'sgd SGD', 'k 5',
    ])
  })

  test('is nothing that a function calls its own', () => {
    expect([4, 5, 6].map((step) => told.isInFunction(step))).toEqual([false, true, false])
  })

  test('is the same where the run is cut', () => {
    expect(cutTrace({ ...told.index.trace }, 3).variables.map(({ name, text }) => `${name} ${text}`)).toEqual([
      'n 3', 'pair (1, 2)', 'kept null',
    ])
  })
})
