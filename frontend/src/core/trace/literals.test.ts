import { expect, test } from 'vitest'
import type { Trace } from '../../api/types'
import { load } from '../fixtures/load'
import {
  elementLiterals, isRetuned, literalAt, literals, placed, playedAt, playedIn, put, sameLiterals, turned, turnedOn,
  typed, type Literal,
} from './literals'
import { TraceIndex } from './trace-index'

const texts = (code: string): string[] => literals(code).map(({ text }) => text)

test('numbers stand outside of words, strings and comments', () => {
  expect(texts('x1 = 2.5 + y.t3[0]  # 7\nprint("8", f"9")\nz = 1e-3 * .5')).toEqual(['2.5', '0', '1e-3', '.5'])
  expect(texts('"""\n1\n"""\nx = 2')).toEqual(['2'])
})

test('what is not written in plain decimals is left alone', () => {
  expect(texts('0x1F, 1_000, 2j, 3.real')).toEqual([])
})

test('a minus belongs to a number unless something stands before it', () => {
  expect(texts('f(-1, [-2], x-3, 4 - 5, x ** -6) == -7')).toEqual(['-1', '-2', '3', '4', '5', '-6', '-7'])
  expect(texts('return -1')).toEqual(['-1'])
  expect(texts('(a\n -2)')).toEqual(['2'])
})

test('a number is found by any place in it', () => {
  const found = literals('x = -2.5')
  expect([3, 4, 6, 8].map((at) => literalAt(found, at)?.text)).toEqual([undefined, '-2.5', '-2.5', '-2.5'])
})

test.each([
  ['3', 10, '4'], ['3', -40, '-1'], ['3', 1, '3'], ['2.0', 10, '2.1'], ['2.0', 1, '2.01'], ['0.25', 10, '0.26'],
  ['0.1', -20, '-0.1'], ['0.1', -10, '0.0'], ['2.', 10, '2.1'], ['.5', 10, '0.6'], ['9.9', 10, '10.0'],
  ['1e-3', 10, '1.1e-3'], ['-0.3', 100, '0.7'], ['0.7', 20, '0.9'], ['1', 100, '11'],
])('%s turned by %i tenths of a step is %s', (text, tenths, wanted) => {
  expect(turned(text, tenths)).toBe(wanted)
})

test('turning there and back gives the same number', () => {
  for (const text of ['3', '2.5', '-0.125', '1e-3', '100'])
    for (const tenths of [10, 70, 100, -30]) expect(Number(turned(turned(text, tenths), -tenths))).toBe(Number(text))
})

test('a program is retuned when one number of it changes and nothing else', () => {
  const code = 'x = 2.0\ny = x * 3'
  expect(isRetuned(code, 'x = 2.5\ny = x * 3')).toBe(true)
  expect(isRetuned(code, put(code, literals(code)[1]!, '-30'))).toBe(true)
  for (const other of [code, 'x = 2.5\ny = x * 4', 'x = 2.\nz = x * 3', 'x = y\ny = x * 3', 'x = 2.0\ny = x * 3 + 1'])
    expect(isRetuned(code, other)).toBe(false)
})

test.each([
  ['2.0', '5', '5.0'], ['2.0', '-3', '-3.0'], ['1e-3', '0', '0.0'], ['2.', '1e2', '1e2'], ['2.0', '.5', '.5'],
  ['2', '5', '5'], ['2', '2.5', '2.5'],
])('in the place of %s, %s is written as %s', (before, text, wanted) => {
  expect(typed(before, text)).toBe(wanted)
})

test('numbers stay what they were until more than numbers is edited', () => {
  const code = 'x = 2.0  # 1\ny = x * 3 - 1'
  expect(sameLiterals(code, 'x = -5  # 1\ny = x * 30 - 1').map(({ text }) => text)).toEqual(['-5', '30', '1'])
  for (const other of ['x = 2.0  # 2\ny = x * 3 - 1', 'x = 2.0  # 1\ny = x + 3 - 1', 'x = 2.0  # 1\ny = x * 3'])
    expect(sameLiterals(code, other)).toEqual([])
})

/** A run in which one call made a tensor of these values. */
function made(call: string, data: number[], part: Partial<Trace['tensors'][0]> = {}) {
  const { trace } = load('scalar_expression')
  const span = { line: 1, end_line: 1, column: 4, end_column: 4 + call.length }
  const tensor = { ...trace.tensors[0]!, id: 't1', shape: [data.length], data, dtype: 'float32', ...part }
  const op = { ...trace.ops[0]!, id: 'o1', span, outputs: ['t1'], inputs: [] }
  const program = { ...trace.program, code: `x = ${call}\ny = x * 2` }
  const index = new TraceIndex({ ...trace, program, tensors: [tensor], ops: [op], timeline: [], passes: [] })
  return elementLiterals(index, tensor)
}

test('each element of a tensor has the number it was made of', () => {
  expect(made('torch.tensor([0.1, -2.0], requires_grad=True)', [Math.fround(0.1), -2])).toEqual([0, 1])
  expect(made('torch.tensor([[1., 2.], [3., 4.]])', [1, 2, 3, 4], { shape: [2, 2] })).toEqual([0, 1, 2, 3])
  expect(made('torch.tensor(3., dtype=torch.float64)', [3], { shape: [] })).toEqual([0])
  expect(made('nn.Parameter(torch.tensor([1.0, -2.0]))', [1, -2])).toEqual([0, 1])
})

test('a tensor that was made of anything else has no handles', () => {
  expect(made('torch.tensor([1.0, a])', [1, 2])).toBeNull()
  expect(made('torch.tensor([1.0 * 2, 3.0])', [2, 3])).toBeNull()
  expect(made('torch.tensor([2 * 1.0, 3.0][1:])', [1, 3])).toBeNull()
  expect(made('torch.ones(2)', [1, 1])).toBeNull()
  expect(made('torch.tensor([1.0, 2.0])', [1, 5])).toBeNull()
})

test.each([
  ['2.0', 10, [-3, 3, 0.1], '2.1'], ['2.0', 400, [-3, 3, 0.1], '3.0'], ['-2.9', -100, [-3, 3, 0.1], '-3.0'],
  ['2.0', 1, [-3, 3, 0.1], '2.0'], ['0.05', 10, [0.01, 0.2, 0.01], '0.06'], ['2.', -10, [0, 3, 0.5], '1.5'],
  ['4', 30, [1, 5, 1], '5'], ['10', 10, [5, 30, 5], '15'], ['.5', 10, [0, 2, 1], '2.0'],
] as const)('%s turned by %i tenths stays on the steps of %j: %s', (text, tenths, [least, most, step], expected) => {
  const literal: Literal = { from: 0, to: text.length, text, range: { least, most, step } }
  expect(turnedOn(literal, tenths)).toBe(expected)
})

test('a value is placed on the nearest step', () => {
  expect(placed('1.0', 0.3000004, { least: 0, most: 1, step: 0.1 })).toBe('0.3')
  expect(placed('1', 2.6, { least: 1, most: 9, step: 1 })).toBe('3')
})

test('the numbers to play with are found by their place, also once they were turned', () => {
  const code = 'n = 4\nx = [1.0, -2.0]  # ~ -3..3'
  const span = { line: 2, end_line: 2, column: 10, end_column: 14 }
  const slider = { span, name: 'x[1]', least: -3, most: 3, step: 0.1 }
  const broken = { ...slider, problem: 'outside' as const }
  const played = playedIn({ ...load('detach').trace, program: { code }, sliders: [slider, broken] } as Trace)
  expect(played).toEqual([{ at: 2, of: 3, slider }])
  const turnedCode = literals(code.replace('4', '40'))
  expect(playedAt(turnedCode, 2, played)).toMatchObject({ text: '-2.0', range: { least: -3, most: 3 } })
  expect(playedAt(turnedCode, 1, played)?.range).toBeUndefined()
  expect(playedAt(literals(`m = 3\n${code}`), 2, played)?.range).toBeUndefined()
})
