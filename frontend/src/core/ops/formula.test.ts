import { expect, test } from 'vitest'
import type { Terms } from '../rules'
import { evaluate, sum, type Grid } from './formula'

const matrix: Grid = { shape: [2, 3], values: [1, 2, 3, 4, 5, 6] }
const row: Grid = { shape: [3], values: [10, 20, 30] }
const column: Grid = { shape: [2, 1], values: [1, 2] }
const axis = (value: number): Grid => ({ shape: [], values: [value] })
const names: Readonly<Record<string, Grid>> = { matrix, row, column, first: axis(0), last: axis(-1), five: axis(5) }

function value(terms: Terms, into: readonly number[] = [2, 3]): Grid | null {
  return evaluate(terms, (name) => names[name] ?? null, into)
}

test('operands are stretched as broadcasting does', () => {
  expect(value(['add', 'matrix', 'row'])!.values).toEqual([11, 22, 33, 14, 25, 36])
  expect(value(['mul', 'column', 'row'])).toEqual({ shape: [2, 3], values: [10, 20, 30, 20, 40, 60] })
  expect(value(['add', ['outer', 'row', 'row'], 'matrix'])).toBeNull()
})

test('matrices are multiplied and turned', () => {
  expect(value(['matmul', 'matrix', ['transpose', 'matrix']])).toEqual({ shape: [2, 2], values: [14, 32, 32, 77] })
  expect(value(['matmul', 'matrix', 'row'])).toEqual({ shape: [2], values: [140, 320] })
  expect(value(['matmul', 'row', 'row'])).toEqual({ shape: [], values: [1400] })
  expect(value(['matmul', 'matrix', 'matrix'])).toBeNull()
})

test('sums keep the axes they went along', () => {
  expect(sum(matrix, [-1])).toEqual({ shape: [2, 1], values: [6, 15] })
  expect(sum(matrix, [2])).toBeNull()
  expect(value(['div', ['total', 'matrix', 'first'], ['size', 'matrix', 'first']])!.values).toEqual([2.5, 3.5, 4.5])
  expect(value(['mean', 'matrix', 'last'])!.values).toEqual([2, 5])
  expect(value(['mean', 'matrix'])!.values).toEqual([3.5])
})

test('some functions take the shape of the input', () => {
  expect(value(['mul', 'five', ['ones', 'matrix']])!.values).toEqual([5, 5, 5, 5, 5, 5])
  expect(value(['expand', 'row', 'first'])!.values).toEqual([10, 20, 30, 10, 20, 30])
  expect(value(['put', 'row', 'first', 'last'])!.values).toEqual([0, 0, 0, 10, 20, 30])
  expect(value(['reshape', 'matrix'], [6])!.shape).toEqual([6])
  expect(value(['reshape', 'matrix'], [5])).toBeNull()
})

test('functions along an axis take each line by itself', () => {
  expect(value(['cumsum', 'matrix', 'last'])!.values).toEqual([1, 3, 6, 4, 9, 15])
  expect(value(['cumsum', 'matrix', 'first'])!.values).toEqual([1, 2, 3, 5, 7, 9])
  expect(value(['reverse', 'matrix', 'last'])!.values).toEqual([3, 2, 1, 6, 5, 4])
  expect(value(['cumsum', 'matrix', 'five'])).toBeNull()
})

test('a matrix is inverted, and one without inverse gives no number', () => {
  const inverse = (values: number[], size: number): readonly number[] =>
    evaluate(['inverse', 'A'], () => ({ shape: [size, size], values }), [])!.values
  expect(inverse([0, 2, 4, 0], 2)).toEqual([0, 0.25, 0.5, 0])
  expect(inverse([2, 1, 0, 1, 1, 0, 0, 0, 4], 3)).toEqual([1, -1, 0, -1, 2, 0, 0, 0, 0.25])
  expect(inverse([2, 3, 4, 6], 2).some(Number.isFinite)).toBe(false)
  expect(value(['inverse', 'matrix'])).toBeNull()
})

test('what is not known has no value', () => {
  expect(value(['conv', 'matrix', 'row'])).toBeNull()
  expect(value(['add', 'matrix', 'nobody'])).toBeNull()
})

test('what is joined is cut again, and what is rolled rolls back', () => {
  const at = (): Grid => ({ shape: [2, 3], values: [1, 2, 3, 4, 5, 6] })
  expect(evaluate(['piece', 'g', 1, 3, 1], at, [2, 2])).toEqual({ shape: [2, 2], values: [2, 3, 5, 6] })
  expect(evaluate(['piece', 'g', 2, 4, 1], at, [2, 2])).toBeNull()
  const cut = { shape: [4], values: [1, 2, NaN, 9] } // written with an ellipsis
  expect(evaluate(['piece', 'g', 0, 2, 0], () => cut, [2])).toBeNull()
  expect(evaluate(['select', 'g', 0, 1], at, [3])).toEqual({ shape: [3], values: [4, 5, 6] })
  expect(evaluate(['roll', 'g', 2], at, [2, 3])).toEqual({ shape: [2, 3], values: [5, 6, 1, 2, 3, 4] })
  expect(evaluate(['roll', 'g', -1, ['neg', 1]], at, [2, 3])?.values).toEqual([2, 3, 1, 5, 6, 4])
})
