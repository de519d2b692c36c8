import { describe, expect, test } from 'vitest'
import type { Argument, Edge, Op, Trace } from '../../api/types'
import { load, NAMES } from '../fixtures/load'
import { TraceIndex } from './trace-index'
import { words } from '../words/bundled'
import { nodeOfStep } from './steps'
import { tell, type Told } from './story'
import { marksOf, Track } from './timeline'
import { markLabel } from './timeline-names'

const index = (name: (typeof NAMES)[number]): TraceIndex => new TraceIndex(load(name).trace)
const stepOf = (of: TraceIndex, kind: string): number => of.trace.timeline.findIndex((step) => step.kind === kind) + 1

describe.each(NAMES)('%s', (name) => {
  test.each(['en', 'zh'] as const)('every step is told in %s, with all its values', (lang) => {
    const of = index(name)
    of.trace.timeline.forEach((_, at) => {
      const { text, value } = tell(of, at + 1, words(lang))
      expect(text, `step ${at + 1}`).not.toBe('')
      if (value === '') expect(text, `step ${at + 1}`).not.toMatch(/[:：]$/)
      expect(`${text}${value}`, `step ${at + 1}`).not.toMatch(/\{\w+\}|undefined|^(step|hook|call)\./)
    })
  })

  test('every step has a mark on its side of the line', () => {
    const of = index(name)
    const marks = marksOf(of, new Track(of, 0, 20_000))
    expect(marks).toHaveLength(of.trace.timeline.length)
    of.trace.timeline.forEach((step, at) => {
      if (['visit', 'sum', 'reduce', 'seed', 'accumulate'].includes(step.kind)) expect(marks[at]!.above).toBe(true)
      if (['op', 'call', 'call_end', 'output', 'update', 'reset'].includes(step.kind))
        expect(marks[at]!.above).toBe(false)
    })
  })
})

test('a node that a visit sends to is told by its type where it has the name of the sender', () => {
  const { trace } = load('scalar_expression')
  const tensors = trace.tensors.map((tensor) => (tensor.role === 'gradient' ? tensor : { ...tensor, names: ['y'] }))
  const of = new TraceIndex({ ...trace, tensors })
  const told = trace.timeline.flatMap(({ kind }, at) => (kind === 'visit' ? [tell(of, at + 1, words('en')).value] : []))
  expect(told).toEqual([
    '1, sends 1 → AddBackward0 · y', '1, sends 1 → PowBackward0 · y, 1 → MulBackward0 · y',
    '1, sends 3 → AccumulateGrad · y', '1, sends 4 → AccumulateGrad · y', '7',
  ])
})

test('a write in place is told once, by what it changed', () => {
  const { trace } = load('scalar_expression')
  const pow = trace.ops.find(({ name }) => name === 'pow')!
  const at = trace.timeline.findIndex(({ op }) => op === pow.id)
  const changed = (after: string): TraceIndex => {
    const update = { id: 'u90', kind: 'data', op: pow.id, changes: [{ name: 'x', before: 't1', after }] }
    const timeline = trace.timeline.toSpliced(at + 1, 0, { kind: 'update', update: update.id, op: pow.id })
    const ops = trace.ops.map((op) => (op === pow ? { ...op, in_place: true } : op))
    return new TraceIndex({ ...trace, ops, timeline, updates: [update] } as Trace)
  }
  expect(tell(changed('t2'), at + 1, words('en'))).toMatchObject({ text: 'Compute x ** 2', value: '' })
  expect(tell(changed('t2'), at + 2, words('en')).value).toBe('2 → 4')
  const kept = { text: 'x is written to and stays as it was:', value: '2' }
  expect(tell(changed('t1'), at + 2, words('en'))).toMatchObject(kept)
})

test('what is written as it was before is told with what was added', () => {
  const { trace } = load('scalar_expression')
  const value = (before: number[], after: number[], shape: number[] = []): string => {
    const states = [before, after].map((data, at) => ({
      ...trace.tensors[0]!, id: `s${at}`, identity: at ? 's0' : null, shape, dtype: 'float64', data,
    }))
    const update = { id: 'u90', kind: 'step', changes: [{ name: 'x', before: 's0', after: 's1' }] }
    const timeline = [{ kind: 'update', update: update.id }, ...trace.timeline]
    const whole = { ...trace, tensors: [...trace.tensors, ...states], timeline, updates: [update] }
    return tell(new TraceIndex(whole as unknown as Trace), 1, words('en')).value
  }
  expect(value([3], [3.0000305])).toBe('3 + 3.05e−5 → 3')
  expect(value([3, -2], [3, -2.0000305], [2])).toBe('[3, −2] + [0, −3.05e−5] → [3, −2]')
  expect([value([3], [3]), value([3], [4])]).toEqual(['3 → 3', '3 → 4'])
})

test('what clears gradients is told with whose they are', () => {
  const { trace } = load('scalar_expression')
  const told = (of: object): string => {
    const update = { id: 'u90', kind: 'zero_grad', changes: [], ...of }
    const timeline = [{ kind: 'reset', update: update.id }]
    return tell(new TraceIndex({ ...trace, timeline, updates: [update] } as unknown as Trace), 1, words('en')).text
  }
  expect(told({ variable: 'opt_d', optimizer: 'SGD' })).toBe('opt_d.zero_grad() clears 0 gradients')
  expect(told({ owner: 'module' })).toBe('zero_grad() clears 0 gradients')
})

test('what worked inside a call is told with the call', () => {
  const { trace } = load('scalar_expression')
  const tensors = trace.tensors.map((tensor) => ({ ...tensor, names: [] }))
  const ops = trace.ops.map((op) => (op.name === 'pow' ? { ...op, called: 'pow', inside: true } : op))
  const of = new TraceIndex({ ...trace, ops, tensors } as Trace)
  const step = trace.timeline.findIndex(({ op }) => of.op(op)?.name === 'pow') + 1
  expect(tell(of, step, words('en')).text).toBe('Compute x ** 2 · pow:')
})

test('what a module does inside is told with its path, and a buffer by its name', () => {
  const { trace } = load('attention')
  const [module] = trace.modules
  const told = (part: Partial<Op>): string => {
    const at = trace.timeline.findIndex(({ op }) => op) + 1
    const { op: id } = trace.timeline[at - 1]!
    const made = { inside: true, called: 'add_', name: 'add_', in_place: true, module: module!.id, ...part }
    const ops = trace.ops.map((op) => (op.id === id ? { ...op, ...made } : op))
    const of = trace.ops.find((op) => op.id === id)!.outputs[0]!
    const tensors = trace.tensors.map((tensor) => (tensor.id === of ? { ...tensor, names: [] } : tensor))
    const modules = [{ ...module!, path: 'norm', buffers: [{ name: 'seen', tensor: of }] }]
    return tell(new TraceIndex({ ...trace, modules, ops, tensors } as Trace), at, words('en')).text
  }
  expect(told({})).toBe('Change norm.seen in place:')
  expect(told({ in_place: false, name: 'item', called: 'item' })).toMatch(/^\w+ norm · item:?$/)
  expect(told({ in_place: false, name: 'requires_grad_', called: 'requires_grad_' })).toBe('norm · requires_grad_')
})

test('of a node with several results a visit sends to the one that the edge is of', () => {
  const { trace } = load('scalar_expression')
  const [power, triple] = ['PowBackward0', 'MulBackward0'].map(
    (type) => trace.nodes.find((node) => node.type === type)!,
  )
  const [left, right] = [power, triple].map(
    (node) => trace.tensors.find(({ grad_fn, role }) => grad_fn?.node === node!.id && role !== 'gradient')!,
  )
  const outputs = [power!.outputs![0]!, triple!.outputs![0]!]
  const edges = (old: Edge[]): Edge[] =>
    old.map((edge) => (edge.to === triple!.id ? { ...edge, to: power!.id, input_nr: 1 } : edge))
  const nodes = trace.nodes.map((node) => node === power ? { ...node, outputs } : { ...node, edges: edges(node.edges) })
  const tensors = trace.tensors.map((tensor) => {
    if (tensor === left) return { ...tensor, names: ['left'] }
    return tensor === right ? { ...tensor, names: ['right'], grad_fn: { node: power!.id, output_nr: 1 } } : tensor
  })
  const ops = trace.ops.map((op) => (op.id === power!.op ? { ...op, outputs: [left!.id, right!.id] } : op))
  const of = new TraceIndex({ ...trace, nodes, tensors, ops } as Trace)
  const said = trace.timeline.map((_, at) => {
    const { text, value } = tell(of, at + 1, words('en'))
    return `${text} ${value}`
  })
  expect(said).toContain('Compute left, right: 4, 6')
  expect(said).toContain('Visit x ** 2 + 3 * x, receives: 1, sends 1 → left, 1 → right')
  expect(said).toContain('Visit left, right, receives: 1, sends 4 → x')
})

test('a visit says what it received and what it sends to whom', () => {
  const of = index('scalar_expression')
  const told = of.trace.timeline.flatMap(({ kind }, at) => (kind === 'visit' ? [tell(of, at + 1, words('en'))] : []))
  expect(told.map(({ text, value }) => `${text} ${value}`)).toEqual([
    'Visit y, receives: 1, sends 1 → x ** 2 + 3 * x',
    'Visit x ** 2 + 3 * x, receives: 1, sends 1 → x ** 2, 1 → 3 * x',
    'Visit 3 * x, receives: 1, sends 3 → x',
    'Visit x ** 2, receives: 1, sends 4 → x',
    'Visit x, receives: 7',
  ])
  expect(tell(of, stepOf(of, 'visit') + 1, words('zh')).value).toBe('1；送出 1 → x ** 2、1 → 3 * x')
})

test('a visit says what it sends that is summed over broadcast axes first', () => {
  const of = index('broadcasting')
  const said = (lang: 'en' | 'zh'): string[] => of.trace.timeline.flatMap(({ kind }, at) =>
    kind === 'visit' ? tell(of, at + 1, words(lang)).value : [])
  expect(said('en').filter((value) => value.includes('sum'))).toEqual([
    '[[1, …]], sends [[1, …]] → prices * discount, 2×3 → shipping after a sum',
    '[[1, …]], sends 2×3 → discount after a sum',
  ])
  expect(said('zh').find((value) => value.includes('求和'))).toContain('2×3 → shipping（先求和）')
})

test('a hook says its name, its place and what it made of the gradient', () => {
  const of = index('hooks')
  const told = tell(of, stepOf(of, 'hook'), words('en'))
  expect(told.text).toBe('Hook <lambda> on hidden changes what it got:')
  expect(told.value).toBe('[1, 2, 4] → [1, 2, 2.5]')
  expect(nodeOfStep(of, of.event(stepOf(of, 'hook')))?.type).toBe('PowBackward0')
  const same = new TraceIndex(structuredClone(of.trace))
  const hook = same.hooks.get(same.event(stepOf(same, 'hook'))!.hook!)!
  Object.assign(same.tensor(hook.after)!, { data: same.tensor(hook.before)!.data })
  expect(tell(same, stepOf(same, 'hook'), words('en')).text).toBe('Hook <lambda> on hidden leaves what it got:')
  const summary = { min: 0, max: 1, mean: 0.5, std: 0.5, norm: 1 }
  for (const id of [hook.before, hook.after]) Object.assign(same.tensor(id)!, { data: undefined, summary })
  expect(tell(same, stepOf(same, 'hook'), words('en')).text).toContain('changes')
})

test('a clipping that scales by one keeps the gradients as they were', () => {
  const { trace } = load('accumulation')
  const one = trace.updates[0]!.changes[0]!
  const told = (after: string | null): string => {
    const updates = [{ ...trace.updates[0]!, kind: 'grad_set' as const, changes: [one, { ...one, after }] }]
    updates[0]!.changes[0] = { ...one, after: one.before }
    const of = new TraceIndex({ ...trace, updates })
    return tell(of, stepOf(of, 'reset'), words('en')).text
  }
  expect(told(one.before)).toBe('Keep 2 gradients as they were')
  expect(told(one.after)).toBe('Change 2 gradients')
  const alone = { ...trace.updates[0]!, kind: 'grad_set' as const, op: 'o1', changes: [{ ...one, after: one.before }] }
  const of = new TraceIndex({ ...trace, updates: [alone] })
  expect(tell(of, stepOf(of, 'reset'), words('en')).text).toMatch(/\.grad is written to and stays as it was:$/)
})

test('an op at which a checkpoint has computed enough is no error, one that raised is', () => {
  const trace = structuredClone(load('hooks').trace)
  const at = trace.timeline.findIndex((step) => step.kind === 'op')
  const op = trace.ops.find((one) => one.id === trace.timeline[at]!.op)!
  Object.assign(op, { raised: true, outputs: [] })
  const told = (): string[] => {
    const of = new TraceIndex(trace)
    return [tell(of, at + 1, words('en')).tone, marksOf(of, new Track(of, 0, 20_000))[at]!.shape]
  }
  expect(told()).toEqual(['error', 'failure'])
  Object.assign(op, { rerun_of: 'o1' })
  expect(told()[0]).toBe('plain')
  expect(told()[1]).not.toBe('failure')
})

test('a module that a checkpoint runs again is told so, and left without an error', () => {
  const trace = structuredClone(load('attention').trace)
  const [first] = trace.calls!
  Object.assign(first!, { pass: 'p1', raised: true, last_op: null })
  Object.assign(trace.ops.find(({ id }) => id === first!.first_op)!, { rerun_of: 'o1' })
  const of = new TraceIndex(trace)
  const told = trace.timeline.flatMap(({ call }, at) => (call === first!.id ? [tell(of, at + 1, words('en'))] : []))
  expect(told.map(({ text }) => text)).toEqual([
    'Enter module attention (Attention) again, for what was not kept', 'Leave module attention',
  ])
  expect(told.at(-1)!.tone).not.toBe('error')
})

test('a pass that raised stops, and others end', () => {
  const trace = structuredClone(load('hooks').trace)
  const end = trace.timeline.findIndex(({ kind }) => kind === 'pass_end') + 1
  expect(tell(new TraceIndex(trace), end, words('en')).text).toBe('backward() #1 ends')
  trace.passes[0]!.failed = true
  expect(tell(new TraceIndex(trace), end, words('en')).text).toBe('backward() #1 stops with an error')
  trace.passes[0]!.caught = { type: 'RuntimeError', message: 'a second time' }
  expect(tell(new TraceIndex(trace), end, words('en'))).toMatchObject({
    text: 'backward() #1 stops with an error, caught:', value: 'RuntimeError: a second time',
  })
})

test('a sum over broadcast axes says them, and the shapes around it', () => {
  const of = index('broadcasting')
  const at = stepOf(of, 'reduce')
  const told = tell(of, at, words('en'))
  expect(told.text).toMatch(/^Sum over axis 1 for \w+ \(2×3 → 2×1\):$/)
  expect(told.value).toBe('3')
  expect(markLabel(of, of.event(at)!, words('en'))).toMatch(/^Σ[₀-₉]+$/)
})

test('modules are entered and left in pairs', () => {
  const of = index('attention')
  const depth = of.trace.timeline.reduce((open, step) => {
    const next = step.kind === 'call' ? open + 1 : step.kind === 'call_end' ? open - 1 : open
    expect(next).toBeGreaterThanOrEqual(0)
    return next
  }, 0)
  expect(depth).toBe(0)
  expect(tell(of, stepOf(of, 'call'), words('zh')).text).toMatch(/^进入模块 /)
})

test('what was made of nothing is created, what was written into is changed, and no_grad records nothing', () => {
  const { trace } = load('error_in_place')
  const said = (id: string, part: Partial<Op> = {}): string => {
    const ops = trace.ops.map((op) => (op.id === id ? { ...op, ...part } : op))
    const at = trace.timeline.findIndex(({ op }) => op === id) + 1
    return tell(new TraceIndex({ ...trace, ops }), at, words('en')).text
  }
  const input = trace.tensors.find(({ requires_grad }) => !requires_grad)!.id
  const off: Partial<Op> = { nodes: [], inputs: [input], outputs: [input], grad_mode: 'no_grad' }
  expect(said('o1')).toBe('Create x:')
  expect(said('o3')).toMatch(/^Change \w+ in place:$/)
  expect(said('o4')).toMatch(/^Compute \w+:$/)
  expect(said('o4', off)).toContain('not recorded by autograd')
})

test('what is put into a part of a tensor is told with the value of that part', () => {
  const { trace } = load('error_in_place')
  const [op] = trace.ops
  const put = (value: Argument): Told => {
    const parts = [{ tensor: op!.outputs[0]! }, { text: '0' }, value]
    const span = { line: 2, end_line: 2, column: 0, end_column: 4 }
    const program = { ...trace.program, code: 'import torch\nx[0] = 5.0' }
    const ops = [{ ...op!, name: 'setitem', in_place: true, arguments: parts, span }]
    return tell(new TraceIndex({ ...trace, program, ops }), stepOf(index('error_in_place'), 'op'), words('en'))
  }
  const told = { text: 'Change x[0] in place:', value: '5.0' }
  expect([{ text: '5.0' }, { text: '[1.0, 2.0]' }, { tensors: [] }].map(put)).toMatchObject(
    [told, { ...told, value: '[1.0, 2.0]' }, { text: 'Change x[0] in place', value: '' }])
})
