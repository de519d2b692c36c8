import { describe, expect, test } from 'vitest'
import type { Op, Tensor } from '../../api/types'
import { cellName, drawnOf, productOf, termsOf } from './product'

function tensor(id: string, shape: number[], data?: (number | string)[]): Tensor {
  return { id, shape, dtype: 'float32', ...(data ? { data } : {}) } as unknown as Tensor
}

function product(name: string, tensors: Tensor[], result?: Tensor, extra: Partial<Op> = {}) {
  const all = new Map([...tensors, ...(result ? [result] : [])].map((one) => [one.id, one]))
  const op = {
    name,
    inputs: tensors.map(({ id }) => id),
    outputs: result ? [result.id] : [],
    arguments: [],
    ...extra,
  } as unknown as Op
  return productOf(op, (id) => (id === undefined ? undefined : all.get(id)))
}

const a = tensor('a', [1, 3], [1, 2, 3])
const b = tensor('b', [3, 1], [4, 5, 6])

describe('row times column', () => {
  test('a row by a column is one cell', () => {
    const made = product('matmul', [a, b], tensor('c', [1, 1], [32]))!
    expect([made.left.rows, made.left.columns, made.right.rows, made.right.columns]).toEqual([1, 3, 3, 1])
    expect(termsOf(made, 0, 0)).toBe('1·4 + 2·5 + 3·6 = 32')
  })

  test('of a long axis that is summed over the first and the last are drawn', () => {
    const long = (id: string, shape: number[]) => tensor(id, shape, Array.from({ length: 9 }, (_, at) => at + 1))
    const made = product('matmul', [long('a', [1, 9]), long('b', [9, 1])], tensor('c', [1, 1], [285]))!
    const [left, right, result] = drawnOf(made, 2)
    expect([left.texts, right.texts, result.texts]).toEqual([['1', '2', '…', '9'], ['1', '2', '…', '9'], ['285']])
    expect([left.rows, left.columns, right.rows, right.columns]).toEqual([1, 4, 4, 1])
    expect([drawnOf(made), drawnOf(made, 7)].map(([{ columns }]) => columns)).toEqual([9, 9])
  })

  test('a cell is called as the program would write it', () => {
    const of = (shape: number[]) => product('matmul', [a, b], tensor('c', shape, [32]))!.result!
    expect(cellName(of([1, 1]), 'y', 0, 0)).toBe('y[0][0]')
    expect(cellName(of([1]), 'net.y[0]', 0, 0)).toBe('net.y[0][0]')
    expect(cellName(of([2, 1, 1]), '输入 @ 权重', 0, 0)).toBe('(输入 @ 权重)[0][0][0]')
    expect(cellName(of([]), 'a @ b', 0, 0)).toBe('a @ b')
  })

  test('a column by a row is a table', () => {
    const made = product('mm', [b, a], tensor('c', [3, 3], [4, 8, 12, 5, 10, 15, 6, 12, 18]))!
    expect([made.result!.rows, made.result!.columns]).toEqual([3, 3])
    expect(termsOf(made, 2, 1)).toBe('6·2 = 12')
  })

  test('vectors lie left and stand right', () => {
    const v = tensor('v', [3], [1, 0, -1])
    expect(termsOf(product('dot', [v, v], tensor('c', [], [2]))!, 0, 0)).toBe('1·1 + 0·0 + (−1)·(−1) = 2')
    const made = product('mv', [tensor('m', [2, 3], [1, 2, 3, 4, 5, 6]), v], tensor('c', [2], [-2, -2]))!
    expect(termsOf(made, 1, 0)).toBe('4·1 + 5·0 + 6·(−1) = −2')
  })

  test('a linear layer multiplies by its weight turned, and adds the bias', () => {
    const weight = tensor('w', [2, 3], [1, 1, 1, 0, 0, 2])
    const made = product('linear', [a, weight, tensor('bias', [2], [0.5, -0.5])], tensor('c', [1, 2], [6.5, 5.5]))!
    expect(made.right).toMatchObject({ rows: 3, columns: 2, turned: true, values: [1, 0, 1, 0, 1, 2] })
    expect(termsOf(made, 0, 1)).toBe('1·0 + 2·0 + 3·2 + (−0.5) = 5.5')
  })

  test('of a batch the first product is shown', () => {
    const made = product(
      'bmm', [tensor('x', [2, 1, 2], [1, 2, 3, 4]), tensor('y', [2, 2, 1], [5, 6, 7, 8])],
      tensor('c', [2, 1, 1], [17, 53]),
    )!
    expect(made.batch).toBe(2)
    expect(termsOf(made, 0, 0)).toBe('1·5 + 2·6 = 17')
  })
})

describe('what cannot be written out', () => {
  test('sizes that do not agree have no result', () => {
    const made = product('mm', [a, tensor('d', [2, 1], [1, 1])], undefined, { raised: true } as Partial<Op>)!
    expect(made.result).toBeNull()
    expect(termsOf(made, 0, 0)).toBeNull()
  })

  test('mm is for matrices only', () => {
    const vector = tensor('v', [3], [1, 1, 1])
    expect(product('mm', [a, vector], undefined, { raised: true } as Partial<Op>)!.needs).toEqual([2, 2])
    expect(product('matmul', [a, vector], tensor('c', [1], [6]))!.needs).toBeNull()
    expect(product('mm', [a, b], tensor('c', [1, 1], [32]))!.needs).toBeNull()
  })

  test('long sums are shortened, numbers that are not there are not made up', () => {
    const long = tensor('x', [1, 8], [1, 2, 3, 4, 5, 6, 7, 8])
    const ones = tensor('y', [8, 1], [1, 1, 1, 1, 1, 1, 1, 1])
    expect(termsOf(product('mm', [long, ones], tensor('c', [1, 1], [36]))!, 0, 0)).toBe(
      '1·1 + 2·1 + 3·1 + … + 8·1 = 36',
    )
    expect(termsOf(product('mm', [tensor('x', [1, 8]), ones], tensor('c', [1, 1], [36]))!, 0, 0)).toBeNull()
  })

  test('empty sums, scalars, scaled sums and other ops', () => {
    expect(
      termsOf(product('mm', [tensor('x', [1, 0], []), tensor('y', [0, 1], [])], tensor('c', [1, 1], [0]))!, 0, 0),
    ).toBeNull()
    expect(product('matmul', [tensor('s', [], [1]), a])).toBeNull()
    expect(product('mul', [a, a], a)).toBeNull()
    expect(
      product('addmm', [a, a, b], a, { arguments: [{ name: 'beta', text: '2' }] } as unknown as Partial<Op>),
    ).toBeNull()
    expect(product('matmul', [a], a)).toBeNull()
  })

  test('NaN and infinity stay what they are', () => {
    const made = product(
      'mm', [tensor('x', [1, 2], ['nan', 1]), tensor('y', [2, 1], ['inf', 1])], tensor('c', [1, 1], ['nan']),
    )!
    expect(termsOf(made, 0, 0)).toBe('NaN·+Inf + 1·1 = NaN')
  })
})
