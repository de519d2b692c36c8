import { expect, it } from 'vitest'
import type { Box, Op, Tensor } from '../../api/types'
import type { DrawnLink } from '../layout/fold'
import { TOKENS } from './colour'
import {
  ASIDE, cellOf, cutText, cutWidth, forwardLabel, gradientLabel, gradientTag, LABEL, naturalWidth, STUB, TAG, valueTag,
  type Measure,
} from './measure'
import { styleSheet } from './style'
import { words } from '../words/bundled'

const tensor = (id: string, shape: number[], more: Partial<Tensor> = {}): Tensor =>
  ({ id, shape, dtype: 'float32', role: 'result', ...more }) as Tensor

/** A label of the edge from `given` to the box of an op that made another tensor of it. */
function measureOf(op: Partial<Op>, made: Tensor): Measure {
  const given = tensor('t1', [1, 2])
  return {
    words: (key: string, values: object) => `${key} ${JSON.stringify(values)}`,
    sheet: { boxes: new Map([['b', { op: 'o1' }]]) },
    story: {
      index: {
        tensor: (id: string) => ({ t1: given, t2: made })[id],
        op: (id: string) => (id === 'o1' ? { inputs: ['t1'], outputs: ['t2'], ...op } : undefined),
      },
    },
  } as unknown as Measure
}

const link = (kind: string, more: object = {}): DrawnLink => ({ kind, target: 'b', tensor: 't1', ...more }) as DrawnLink

it('says what a cast or a move makes of what it takes', () => {
  expect(forwardLabel(link('data'), measureOf({ name: 'to' }, tensor('t2', [1, 2], { dtype: 'float64' })), false))
    .toEqual(['1×2 → float64'])
  expect(forwardLabel(link('data'), measureOf({ name: 'cuda' }, tensor('t2', [1, 2], { device: 'cuda:0' })), false))
    .toEqual(['1×2 → cuda:0'])
  expect(forwardLabel(link('data'), measureOf({ name: 'mul' }, tensor('t2', [1, 2], { dtype: 'bool' })), false))
    .toEqual(['1×2'])
})

it('says how far an untracked operand is stretched; of a tracked one the capsule of its sum does', () => {
  const added = measureOf({ name: 'add', broadcast: [{ input: 0, axes: [0] }] }, tensor('t2', [3, 2]))
  expect(forwardLabel(link('ghost'), added, false)).toEqual(['1×2 → 3×2'])
  expect(forwardLabel(link('data', { broadcast: [0] }), added, false)).toEqual(['1×2'])
})

it('calls what cut a path by its name', () => {
  const measure = measureOf({ name: 'mul' }, tensor('t2', [1]))
  const told = ['set_grad_enabled', 'inference_mode', 'item'].map(
    (reason) => cutText(link('cut', { reason }), measure)[0],
  )
  expect(told).toEqual(['set_grad_enabled(False)', 'inference_mode', 'item()'].map(
    (reason) => `graph.cut ${JSON.stringify({ reason })}`,
  ))
})

it.each(['en', 'zh'] as const)('the words of a cut stand beside it on a phone, in %s', (lang) => {
  const measure = { words: words(lang) } as unknown as Measure
  const said = cutText(link('cut', { reason: 'detach', span: { line: 12 } }), measure)
  // half of the window, and what a box leaves of the other half
  expect(cutWidth(said)).toBeLessThan(390 / 2 + 20)
})

it('says which of several results the cells of a box hold', () => {
  const split = measureOf({ outputs: ['t2', 't3'] }, tensor('t2', [2], { names: ['left'] }))
  const box = (name: string) => ({ kind: 'op', op: 'o1', tensor: 't2', name }) as Box
  expect([valueTag, gradientTag].map((tag) => tag(box('left, right'), split))).toEqual(['left', 'left'])
  expect(valueTag(box('left'), split)).toBe('')
  expect(valueTag(box('left'), measureOf({}, tensor('t2', [2], { names: ['left'] })))).toBe('')
})

it('says .grad where a leaf may have one', () => {
  const leaf = { kind: 'leaf', tensor: 't2' } as Box
  const tag = (requires_grad: boolean) => gradientTag(leaf, measureOf({}, tensor('t2', [2], { requires_grad })))
  expect([tag(true), tag(false)]).toEqual(['.grad', ''])
})

it('writes a norm beside a lane with as many digits as in a box', () => {
  const summary = (norm: number) => ({ min: -1, max: 1, mean: 0, std: 1, norm })
  const beside = (norm: number) => gradientLabel(tensor('t1', [4, 16], { summary: summary(norm) }), Infinity)
  expect([3297.4, 0.07162].map(beside)).toMatchObject([{ text: '‖3297‖' }, { text: '‖0.0716‖' }])
})

it('writes no list beside a lane that has no room for one, where not all of it is finite either', () => {
  const data: Tensor['data'] = [-0.25, 'nan', -0.5]
  expect(gradientLabel(tensor('t1', [3], { data }), 0)).toMatchObject({ text: '‖NaN‖' })
})

it('writes no numbers into a cell that a phone would cut: fewer digits, ends of a long vector, a picture', () => {
  const vector = (size: number, value: number) => tensor('t1', [size], { data: Array<number>(size).fill(value) })
  const cell = (one: Tensor, tag = '') => cellOf(one, tag, { ...measureOf({}, one), cell: 140 })
  expect(cell(vector(5, 2)).shown).toMatchObject({ rows: [['2', '2', '2', '…', '2']] })
  expect(cell(vector(5, -12.25)).shown).toMatchObject({ rows: [['−12.25', '…', '−12.25']] })
  expect(cell(vector(3, 12.345)).shown).toMatchObject({ rows: [['12.3', '12.3', '12.3']] })
  const three = tensor('t1', [3], { data: [-0.27263, -0.23987, -0.12271] })
  expect(cell(three).shown).toMatchObject({ rows: [['−0.27', '−0.24', '−0.12']] })
  expect(cell(three, '.grad'), 'alone in its cell').toMatchObject({ tag: '', shown: { kind: 'matrix' } })
  const four = tensor('t1', [4], { data: [-0.27263, -0.23987, -0.12271, -0.11111] })
  expect([cell(four), cell(four, '.grad')]).toMatchObject([{ shown: { kind: 'thumb' } }, { shown: { kind: 'matrix' } }])
  const wide = cellOf(three, '', { ...measureOf({}, three), cell: 110 }, 170)
  expect(wide.shown, 'where the box is that wide anyway').toMatchObject({ rows: [['−0.273', '−0.24', '−0.123']] })
  const matrix = tensor('t1', [2, 3], { data: Array<number>(6).fill(-12.25) })
  for (const wide of [vector(5, -12.25), matrix]) expect(cell(wide, '.grad').width).toBeLessThanOrEqual(150)
})

it('has room for the parameter of a layer beside a box of a model', () => {
  expect(naturalWidth({ text: 'proj.weight', box: null, tensor: null })).toBeLessThanOrEqual(STUB.widest.model)
})

it.each([
  [ASIDE, ['aside', 'strip-label', 'strip-fail']], [TAG, ['tag']],
  [LABEL, ['shape', 'label-g', 'label-b', 'stub-text']],
])(
  'measures at %f px what is drawn as large', (size, names) => {
    const sheet = styleSheet('.graph', TOKENS.light, { mono: 'mono', ui: 'ui' })
    for (const name of names) expect(sheet).toMatch(new RegExp(`\\.graph \\.${name}[,{][^}]*font-size:${size}px`))
  },
)
