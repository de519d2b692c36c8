import { expect, test } from 'vitest'
import type { Question, Trace } from '../../api/types'
import { load } from '../fixtures/load'
import { cutGraph, cutTrace } from './cut'
import { answerOf, judge, numbersIn, partOf, reasonOf, together, writtenFor } from './answers'
import { askable } from './questions'
import { TraceIndex } from './trace-index'
import { History } from './history'
import { drawnUnrecorded, unrecorded } from './unrecorded'

const fixtures = ['accumulation', 'broadcasting', 'detach', 'double_backward', 'scalar_expression'] as const
const span = { line: 1, end_line: 1, column: 0, end_column: 1 }
const asked: Question = {
  span, text: 'x.grad', line: 1, step: 0, until: 1, kind: 'number', shape: [2, 2], data: [1, 2, 3, 4],
  mistakes: [{ code: 'transposed', data: [1, 3, 2, 4] }],
}

/** Whether the next step is the first of its line: a question is asked before a statement. */
function isBetween({ timeline, passes }: Trace, step: number): boolean {
  const line = (at: number) => {
    const { pass, span } = timeline[at]!
    return (passes.find(({ id }) => id === pass)?.span ?? span)?.line
  }
  return step === 0 || (line(step) !== undefined && line(step) !== line(step - 1))
}

test('numbers are read as they are typed', () => {
  expect(numbersIn('[[1, 2],[3, 1/2]]')).toEqual([1, 2, 3, 0.5])
  expect(numbersIn(' torch.Size([2, 3]) ')).toEqual([2, 3])
  expect(numbersIn('−1.5e2 .5 - 3')).toEqual([-150, 0.5, -3])
  expect(numbersIn('（１，−２．５）')).toEqual([1, -2.5])
  expect(['', 'two', '1/', '1..2'].map(numbersIn)).toEqual([null, null, null, null])
  expect(numbersIn('()')).toEqual([])
})

test('a wrong answer is told why where that is known', () => {
  expect(judge(asked, '1 2 3 4')).toBe('right')
  expect(judge(asked, '1.001, 2, 3, 4')).toBe('right')
  expect(judge(asked, '[[1,3],[2,4]]')).toBe('transposed')
  expect(judge(asked, '[1, 2]')).toBe('shape')
  expect(judge(asked, '5 5 5 5')).toBe('wrong')
  expect(judge(asked, 'None')).toBe('wrong')
  expect(judge(asked, 'many')).toBe('unread')
  expect(judge({ ...asked, data: [], is_none: true }, 'none')).toBe('right')
  expect(judge({ ...asked, kind: 'choice', answer: 'True' }, 'False')).toBe('wrong')
})

test('where all elements are one number, that number will do', () => {
  const mistakes: Question['mistakes'] = [{ code: 'sign', data: [1, 1, 1, 1] }]
  const zeros: Question = { ...asked, shape: [2, 2], data: [0, 0, 0, 0], mistakes }
  expect(['0', '[0]', '0.0', '1', '2', '0 0'].map((given) => judge(zeros, given))).toEqual([
    'right', 'right', 'right', 'sign', 'shape', 'shape',
  ])
  expect(judge({ ...zeros, data: [0, 0, 0, 1] }, '0')).toBe('shape')
})

test('brackets make rows, or say nothing', () => {
  const mistakes: Question['mistakes'] = [{ code: 'sign', data: [0, -2, -2, -2, -2, -2] }]
  const wide: Question = { ...asked, shape: [2, 3], data: [0, 2, 2, 2, 2, 2], mistakes }
  const right = [
    '0 2 2 2 2 2', '[0, 2, 2, 2, 2, 2]', '[[0,2,2],[2,2,2]]', 'tensor([[0., 2., 2.], [2., 4 / 2, 2.]])',
    '((0,2,2),(2,2,2))', '[0 2 2] [2 2 2]', '【【０，２，２】，【２，２，２】】',
  ]
  expect(right.map((given) => judge(wide, given))).toEqual(right.map(() => 'right'))
  const other = ['[[0,2],[2,2],[2,2]]', '[[0,2,2,2,2,2]]', '[[0,2,2,2],[2,2]]', '((0,2),(2,2),(2,2))']
  expect(other.map((given) => judge(wide, given))).toEqual(other.map(() => 'brackets'))
  expect(judge(wide, '[[0,-2,- 2],[-2,-2,-2]]')).toBe('sign')
  expect(['3', '[3]', '[[3]]'].map((given) => judge({ ...asked, shape: [], data: [3] }, given))).toEqual([
    'right', 'right', 'brackets',
  ])
})

test('a wrong shape is told what is wrong with it', () => {
  const shape: Question = { ...asked, kind: 'shape', shape: [], data: [2, 3], mistakes: [] }
  const given = ['2×3', 'torch.Size([2, 3])', '3, 2', '(2, 3, 1)', '6', '-2, -3']
  expect(given.map((one) => judge(shape, one))).toEqual(['right', 'right', 'order', 'axes', 'axes', 'wrong'])
  expect(answerOf({ ...shape, data: [4] })).toBe('(4,)')
})

test('a failing line is any of its statement, and its caller a known mistake', () => {
  const line: Question = { ...asked, kind: 'line', shape: [], data: [4, 6], mistakes: [{ code: 'caller', data: [9] }] }
  expect(['4', ' 6 ', '9', '3', '4 5', 'None', 'x'].map((given) => judge(line, given))).toEqual([
    'right', 'right', 'caller', 'wrong', 'unread', 'wrong', 'unread',
  ])
  expect(judge({ ...line, data: [], mistakes: [], is_none: true }, 'none')).toBe('right')
  expect(judge({ ...line, data: [], mistakes: [], is_none: true }, '4')).toBe('wrong')
  expect([answerOf(line), answerOf({ ...line, data: [4, 4] })]).toEqual(['4–6', '4'])
})

test('where a gradient flows is right with all it reaches and nothing else', () => {
  const flow: Question = {
    ...asked, kind: 'flow', data: [], mistakes: [], choices: ['x', 'w', 'mul (3)', 'loss'], answer: 'w, mul (3), loss',
    parts: ['t1', 't2', 'o3', 'o4'],
  }
  expect(['loss, w, mul (3)', 'w，loss', 'x, w, mul (3), loss', 'x, w', ''].map((given) => judge(flow, given))).toEqual([
    'right', 'missing', 'extra', 'wrong', 'missing',
  ])
  expect(together(flow, ['loss', 'w'])).toBe('w, loss')
  const [box] = load('scalar_expression').graph.boxes
  const choices = [{ op: 'o3', tensor: 't9' }, { op: 'o9', tensor: 't2' }, { op: null }, { op: 'o9', tensor: 't9' }]
  expect(choices.map((ids) => partOf(flow, { ...box!, tensor: null, ...ids }))).toEqual([
    'mul (3)', 'w', undefined, undefined,
  ])
})

test('an answer is written as it would be typed', () => {
  expect(answerOf(asked)).toBe('[[1, 2], [3, 4]]')
  expect(answerOf({ ...asked, shape: [], data: [0.5] })).toBe('0.5')
  expect(answerOf({ ...asked, kind: 'shape', data: [2, 3] })).toBe('(2, 3)')
})

test.each(fixtures)('a cut of %s holds nothing that came later, before any line', (name) => {
  const { trace, graph } = load(name)
  const whole = new History(new TraceIndex(trace))
  for (let step = 0; step < trace.timeline.length; step += 1) {
    if (!isBetween(trace, step)) continue
    const cut = cutTrace(trace, step)
    const ids = new Set(cut.tensors.map(({ id }) => id))
    for (const id of ids) expect(whole.birth(id)).toBeLessThanOrEqual(step)
    const { questions: _asked, ...rest } = cut
    for (const [id] of JSON.stringify(rest).matchAll(/(?<=")t\d+(?=")/g)) expect(ids, `${id} at ${step}`).toContain(id)
    const then = new History(new TraceIndex(cut))
    const names = ({ name: of, tensor }: { name: string; tensor: { id: string } | undefined }) => `${of} ${tensor?.id}`
    expect(then.variablesAt(step).map(names)).toEqual(whole.variablesAt(step).map(names))
    const nodes = new Set(cut.nodes.map(({ id }) => id))
    const drawn = cutGraph(graph, cut)
    expect(drawn.boxes.every(({ node }) => !node || nodes.has(node))).toBe(true)
  }
})

test('gradients that went between devices are told once no question is open', () => {
  const { trace } = load(fixtures[0]!)
  const there = { to: 'cuda:1', size_bytes: 4 }
  const moved = { ...trace, transfers: [there, { ...there, to: 'cuda:0', back: true }] }
  const first = trace.timeline.findIndex(({ kind }) => kind === 'pass')
  expect(cutTrace(moved, first).transfers).toEqual([there])
  expect(cutTrace(moved, trace.timeline.length).transfers).toHaveLength(2)
})

test.each(fixtures)('before a question of %s is answered its answer is in no tensor it asks for', (name) => {
  const { trace } = load(name)
  const questions = askable(trace)
  expect(questions.length).toBeGreaterThan(0)
  for (const question of questions) {
    const cut = cutTrace(trace, question.step)
    const then = new History(new TraceIndex(cut))
    const [variable = '', what] = question.text.split('.')
    const found = then.variablesAt(question.step).find((one) => one.name === variable)?.tensor
    const told = what === 'grad' && found ? then.gradShownAt(found, question.step) : found
    if (question.kind === 'number') expect(told?.data ?? null).not.toEqual(question.data)
  }
})

test.each(fixtures)('while the flow in %s is asked nothing tells what autograd recorded', (name) => {
  const { trace, graph } = load(name)
  const cut = cutTrace(trace, trace.timeline.findIndex(({ kind }) => kind === 'pass'))
  const hidden = unrecorded(cut)
  expect(unrecorded(cut)).toBe(hidden)
  const drawn = drawnUnrecorded(cutGraph(graph, cut), hidden)
  expect(drawn.boxes.map(({ op }) => op)).toEqual(cutGraph(graph, cut).boxes.map(({ op }) => op))
  const told = JSON.stringify([hidden.ops, hidden.tensors, drawn.boxes, drawn.links])
  for (const hint of ['grad_fn', 'Backward0', '"cut"', '"requires_grad":true', 'unreached'])
    expect(told).not.toContain(hint)
})

test('after a pass, what it walked is told and nothing that was computed since', () => {
  const { trace, graph } = load('accumulation')
  const second = trace.timeline.findIndex(({ kind, pass }) => kind === 'pass' && pass !== trace.passes[0]!.id)
  const cut = cutTrace(trace, second)
  expect(cut.passes).toHaveLength(1)
  const hidden = unrecorded(cut)
  const walked = new Set(cut.passes[0]!.visits.map(({ node }) => node))
  expect(new Set(hidden.nodes.map(({ id }) => id))).toEqual(walked)
  const since = hidden.ops.filter(({ span }) => span && span.line > cut.passes[0]!.span!.line)
  expect(since.length).toBeGreaterThan(0)
  expect(since.flatMap(({ nodes }) => nodes)).toEqual([])
  const outputs = new Set(since.flatMap((op) => op.outputs))
  for (const tensor of hidden.tensors) if (outputs.has(tensor.id)) expect(tensor.grad_fn).toBeUndefined()
  const drawn = drawnUnrecorded(cutGraph(graph, cut), hidden)
  for (const { node, kind } of drawn.boxes) if (node) expect([walked.has(node), kind]).toEqual([true, kind])
  new History(new TraceIndex(hidden)).variablesAt(second)
})

test('words that name numbers are those of the lesson alone', () => {
  const words = [{ ask: 'x is 3. What is y?', why: 'It is the square.' }, { ask: 'float32 or None?', why: '那是 −2。' }]
  const trace = { program: { code: 'x = 4' }, questions: [asked, asked] } as unknown as Trace
  expect(writtenFor(trace, 'x = 4', words)).toBe(words)
  const left = writtenFor(trace, 'x = 3', words)
  expect(left).toEqual([{ ask: '', why: 'It is the square.' }, { ask: 'float32 or None?', why: '' }])
  expect(reasonOf(trace, { ...asked, why: { '': 'its own' } }, [], 'en')).toBe('its own')
  expect(reasonOf(trace, trace.questions![0]!, left, 'en')).toBe('It is the square.')
})
