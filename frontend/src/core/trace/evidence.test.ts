import { expect, test } from 'vitest'
import type { Finding, Tensor, Trace } from '../../api/types'
import { load } from '../fixtures/load'
import { TraceIndex } from './trace-index'
import { words } from '../words/bundled'
import { concerned, evidenceOf, shapesUnderEachOther } from './evidence'

const index = new TraceIndex(load('detach').trace)
const finding = (code: string, ...names: string[]): Finding => ({
  code,
  severity: 'warning',
  tensors: names.map((name) => index.trace.tensors.find((tensor) => tensor.names?.includes(name))!.id),
})

test('a finding about tracking shows what autograd knows', () => {
  expect(evidenceOf(index, finding('cut_by_detach', 'square', 'frozen'))).toEqual([
    { what: 'square.grad_fn', is: 'PowBackward0', values: [], wrong: false },
    { what: 'square.requires_grad', is: 'True', values: [], wrong: false },
    { what: 'frozen.grad_fn', is: 'None', values: [], wrong: false },
    { what: 'frozen.requires_grad', is: 'False', values: [], wrong: true },
  ])
})

test('a finding names the tensors it concerns, of many the first', () => {
  const ids = index.trace.tensors.filter(({ role }) => role !== 'gradient').slice(0, 5).map(({ id }) => id)
  const said = (n: number): string => concerned(index, { ...finding('x'), tensors: ids.slice(0, n) }, words('en'))
  expect([said(0), said(1), said(5)]).toEqual(['', 'concerns `x`', 'concerns `x`, `square`, `frozen` and 2 more'])
})

test('a cut shows what goes into it and what comes out, named or not, and the leaf that got nothing', () => {
  const { trace } = index
  const { span, outputs } = trace.ops.find(({ name }) => name === 'detach')!
  const tensors = trace.tensors.map((tensor) => ({
    ...tensor, grad: null, names: tensor.id === outputs[0] ? [] : tensor.names ?? [],
  }))
  const passes = trace.passes.map((pass) => ({ ...pass, accumulations: [] }))
  const cut = new TraceIndex({ ...trace, tensors, passes })
  const rows = evidenceOf(cut, { ...finding('cut_by_detach', 'x'), span: span! })
  expect(rows.map(({ what, is, wrong }) => [what, is, wrong])).toEqual([
    ['square.grad_fn', 'PowBackward0', false], ['square.requires_grad', 'True', false],
    ['square.detach().grad_fn', 'None', false], ['square.detach().requires_grad', 'False', true],
    ['x.grad', 'None', true],
  ])
})

test('of several that go into a cut the one is shown that the finding names', () => {
  const { trace } = index
  const first = trace.tensors.find(({ names }) => names?.includes('x'))!
  const other = { ...first, id: 'other', names: ['other'], grad: null }
  const ops = trace.ops.map((op) => (op.name === 'detach' ? { ...op, inputs: [first.id, other.id] } : op))
  const { span } = ops.find(({ name }) => name === 'detach')!
  const cut = { ...finding('cut_by_detach'), span: span!, tensors: ['other'] }
  const rows = evidenceOf(new TraceIndex({ ...trace, ops, tensors: [...trace.tensors, other] }), cut)
  expect(rows[0]).toEqual({ what: 'other.grad', is: 'None', values: [], wrong: true })
})

test('another shows shape and type once for each name, with the value of a scalar or where the value matters', () => {
  const [x] = finding('dtype_mismatch', 'x').tensors!
  expect(evidenceOf(index, finding('dtype_mismatch', 'x', 'x'))).toEqual([
    { what: 'x', is: '() float32 · 3', values: [x, x], wrong: false },
  ])
  const tensors = index.trace.tensors.map((tensor) => (tensor.id === x ? { ...tensor, shape: [1] } : tensor))
  const wider = new TraceIndex({ ...index.trace, tensors })
  expect(evidenceOf(wider, finding('dtype_mismatch', 'x')).map(({ is }) => is)).toEqual(['1 float32'])
  expect(evidenceOf(index, finding('first_nan_forward', 'y'))).toEqual([
    { what: 'y', is: '() float32 · 27', values: finding('first_nan_forward', 'y').tensors, wrong: false },
  ])
})

test('of a tensor with one bad number the number is shown', () => {
  const divided = { ...finding('division_by_zero', 'x', 'y'), parameters: { cell: 'x[1]', value: '0', place: '[1]' } }
  const [x, y] = [divided.tensors![0]!, divided.tensors![1]!]
  expect(evidenceOf(index, divided)).toEqual([
    { what: 'x[1]', is: '0', values: [x], wrong: true },
    { what: 'y', is: '() float32 · 27', values: [y], wrong: false },
  ])
})

test('numbers that are not finite are shown', () => {
  const [x] = finding('softmax_of_masked_row', 'x').tensors!
  const data = ['-inf', 1, '-inf']
  const tensors = index.trace.tensors.map((tensor) => (tensor.id === x ? { ...tensor, shape: [3], data } : tensor))
  const masked = new TraceIndex({ ...index.trace, tensors } as Trace)
  const [row] = evidenceOf(masked, finding('softmax_of_masked_row', 'x'))
  expect(row!.is).toBe('3 float32 · [−Inf, 1, −Inf]')
})

test('what the program gave no name proves nothing', () => {
  const nameless = index.trace.tensors.find((tensor) => (tensor.names ?? []).length === 0)!
  expect(evidenceOf(index, { ...finding('dtype_mismatch'), tensors: [nameless.id, 't999'] })).toEqual([])
})

test('shapes stand under each other from the right', () => {
  const shaped = (first: number[], second: number[]) => {
    const [a, b] = index.trace.tensors
    const trace = {
      ...index.trace,
      tensors: [
        { ...a!, shape: first }, { ...b!, shape: second },
      ],
    }
    return shapesUnderEachOther(new TraceIndex(trace), {
      code: 'shape_mismatch_broadcast', severity: 'error', tensors: [a!.id, b!.id],
    })!
  }
  const clash = shaped([3, 4], [3])
  expect(clash.rows.map((row) => row.sizes)).toEqual([[3, 4], [null, 3]])
  expect(clash.clash).toBe(1)
  expect(clash.stretched).toEqual([true, false])
  expect(shaped([4, 1], [4])).toMatchObject({ clash: null, stretched: [true, true] })
  expect(shapesUnderEachOther(index, finding('cut_by_detach', 'square', 'frozen'))).toBeNull()
})

test('a value that was changed is shown before and after', () => {
  const edited = new TraceIndex(load('error_in_place').trace)
  const changed = edited.trace.tensors.find((tensor) => edited.identity(tensor.id) !== tensor.id)!
  const found = { ...finding('saved_value_edited'), tensors: [edited.identity(changed.id), changed.id] }
  expect(evidenceOf(edited, found).map((row) => row.is)).toEqual([expect.stringMatching(/ · .+ → .+/)])
})

const trained = new TraceIndex(load('accumulation').trace)

test('what an optimizer does not know is shown by what it does change', () => {
  const { trace } = trained
  const step = { id: 'u90', kind: 'step', variable: 'opt', changes: [{ name: 'v', before: 't1', after: 't2' }] }
  const timeline = [...trace.timeline, { kind: 'update', update: step.id }]
  const known = new TraceIndex({ ...trace, updates: [...trace.updates, step], timeline } as Trace)
  const found = { ...finding('not_in_optimizer'), tensors: [trace.tensors[0]!.id], parameters: { optimizer: 'opt' } }
  expect(evidenceOf(known, found).map(({ what, is }) => [what, is])).toEqual([['opt.step()', 'v']])
})

test('a missing zero_grad is shown by the sum in .grad, not by the values of the leaf', () => {
  const { pass, accumulation } = trained.trace.passes
    .flatMap((pass) => pass.accumulations.map((accumulation) => ({ pass, accumulation })))
    .find(({ accumulation }) => accumulation.before !== null)!
  const found: Finding = {
    code: 'step_without_zero_grad', severity: 'warning', span: pass.span!, tensors: [accumulation.tensor],
  }
  const { before, delta, after } = accumulation
  expect(evidenceOf(trained, found)).toEqual([
    { what: 'w.grad', is: '[2, −4] + [3, 3] → [5, −1]', values: [before, delta, after], wrong: true },
  ])
})

test('of several passes on its line that added up the one that adds most to most proves it', () => {
  const { pass, accumulation } = [...trained.accumulationsOf.values()].flat().find(
    ({ accumulation }) => accumulation.before !== null,
  )!
  const found: Finding = {
    code: 'step_without_zero_grad', severity: 'warning', span: pass.span!, tensors: [accumulation.tensor],
  }
  const nothing = { ...trained.tensor(accumulation.delta)!, id: 't900', data: [0, 0] }
  const first = { ...accumulation, delta: 't900', after: accumulation.before }
  const passes = trained.trace.passes.map((each) =>
    each.id === pass.id ? { ...each, accumulations: [first, accumulation] } : each)
  const index = new TraceIndex({ ...trained.trace, tensors: [...trained.trace.tensors, nothing as Tensor], passes })
  expect(evidenceOf(index, found)[0]!.is).toBe('[2, −4] + [3, 3] → [5, −1]')
})

test('a gradient that was cleared before the step is shown as it goes', () => {
  const { update, change } = [...trained.gradChangesOf.values()].flat().find(({ change }) => change.before)!
  const found: Finding = {
    code: 'zero_grad_before_step', severity: 'warning', span: update.span!, tensors: [change.leaf!],
  }
  expect(evidenceOf(trained, found)).toEqual([
    { what: 'w.grad', is: '[5, −1] → [0, 0]', values: [change.before, change.after], wrong: true },
  ])
})

test('memory that nothing was written to yet has no number', () => {
  const named = index.trace.tensors.find((tensor) => tensor.names?.includes('y'))!
  const blank = { ...named, contents: 'uninitialised' as const, data: null, summary: null }
  const tensors = index.trace.tensors.map((tensor) => (tensor.id === named.id ? blank : tensor))
  const rows = evidenceOf(new TraceIndex({ ...index.trace, tensors }), finding('overflow', 'y'))
  expect(rows.map(({ is }) => is)).toEqual(['() float32 · empty()'])
})
