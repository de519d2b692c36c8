import { expect, test } from 'vitest'
import type { Box, Op } from '../../api/types'
import { load } from '../fixtures/load'
import { constantLiterals } from './constant-literals'
import { literals } from './literals'
import { TraceIndex } from './trace-index'

const { trace } = load('accumulation')
const box: Box = { id: 'o1', kind: 'op', title: 'op', name: '', family: '' }

/** The numbers that stand for the constants of an expression, among ops at other expressions of the same line and
 *  other lines. */
function given(
  name: string, expression: string, constants: string[], inner: string[] = [], rest = '',
): (string | null)[] {
  const code = `${expression}\n${rest}`
  const ops = [expression, ...inner].map((text, at): Op => {
    const column = code.indexOf(text)
    const span = { line: 1, end_line: 1, column, end_column: column + text.length }
    return { ...trace.ops[0]!, id: `o${at + 1}`, name, span }
  })
  const program = { ...trace.program, code }
  const index = new TraceIndex({ ...trace, program, ops, timeline: [], passes: [] })
  const all = literals(code)
  return constantLiterals(index, ops[0]!, { ...box, constants }).map((place) =>
    place === null ? null : `${all[place]!.text} at ${all[place]!.from}`,
  )
}

test.each([
  ['mul', '3 * x', ['3'], [], ['3 at 0']],
  ['sub', 'x - 0.50', ['0.5'], [], ['0.50 at 4']],
  ['mul', '-3 * x', ['-3'], [], ['-3 at 0']],
  ['mul', '3 * x * 3', ['3'], ['3 * x'], ['3 at 8']],
  ['pow', 'f(x[2], y).pow(2)', ['2'], ['x[2]'], ['2 at 15']],
  ['clamp', 'torch.clamp(x, min=0, max=1.0)', ['min=0', 'max=1.0'], [], ['0 at 19', '1.0 at 26']],
  ['clamp', 'x.clamp(1, 1)', ['1', '1'], [], ['1 at 8', '1 at 11']],
])('%s: each constant of `%s` is the number that was given', (name, code, constants, inner, expected) => {
  expect(given(name, code, constants, inner)).toEqual(expected)
})

test.each([
  ['mul', 'x * k', ['3'], 'k = 3.0  # rate', ['3.0 at 10']],
  ['mul', 'k * x', ['3'], 'k: float = 3', ['3 at 17']],
  ['clamp', 'x.clamp(min=low, max=2)', ['min=-1.5', 'max=2'], 'def f():\n  low = -1.5', ['-1.5 at 41', '2 at 21']],
])('%s: each constant of `%s` that has a name is the number it is given', (name, code, constants, rest, expected) => {
  expect(given(name, code, constants, [], rest)).toEqual(expected)
})

test.each([
  ['mul', 'x * k', '3'],
  ['mul', 'x * k', '3', 'k = 3\nk = 3'],
  ['mul', 'x * k', '3', 'k = 2'],
  ['mul', 'x * k', '3', 'k = 1 + 2'],
  ['mul', 'x * k', '3', 'k = 3\nfor k in ks: pass'],
  ['mul', 'x * k', '3', 'k = 3\nk *= 1'],
  ['mul', 'x * k', '3', 'k = 3\ndef f(x, k): return x * k'],
  ['mul', 'x * k', '3', 'k = 3\nf = lambda k: k'],
  ['mul', 'x * k[0]', '3', 'k = 3'],
  ['mul', 'x * self.k', '3', 'k = 3'],
  ['mul', 'x * f(k)', '3', 'k = 3'],
  ['mul', 'x * 3', 'shift'],
  ['mul', 'x * (1 + 2)', '3'],
  ['mul', 'x * f(3)', '3'],
  ['mul', 'x * scales[0]', '0'],
  ['pow', 'x.pow(f(2))', '2'],
  ['pow', 'g(x, 2)', '2'],
  ['mul', '3 * x + y * 3', '3'],
])('%s: a constant of `%s` that no number certainly stands for is no handle', (name, code, constant, rest = '') => {
  expect(given(name, code, [constant], [], rest)).toEqual([null])
})

test('a tensor among the constants is the number that it was made of', () => {
  const code = 'x * torch.tensor(2.5)'
  const span = { line: 1, end_line: 1, column: 4, end_column: code.length }
  const made = { ...trace.tensors[0]!, id: 'c', identity: 'c', storage: null, shape: [], data: [2.5], dtype: 'float32' }
  const ops = [
    { ...trace.ops[0]!, id: 'o1', name: 'tensor', span, outputs: ['c'] },
    { ...trace.ops[0]!, id: 'o2', name: 'mul', span: { ...span, column: 0 }, outputs: [] },
  ]
  const program = { ...trace.program, code }
  const index = new TraceIndex({ ...trace, program, ops, tensors: [made], timeline: [], passes: [] })
  expect(constantLiterals(index, ops[1]!, { ...box, constants: ['2.5'], constant_tensors: ['c'] })).toEqual([0])
})
