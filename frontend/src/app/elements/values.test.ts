import { expect, test } from 'vitest'
import type { Tensor } from '../../api/types'
import { dataOf, outerAxes, sliceStart } from './values'

test('the axes before rows and columns choose which slice is seen', () => {
  expect(outerAxes([2, 3, 4, 5])).toEqual([2, 3])
  expect(outerAxes([4, 5])).toEqual([])
  expect(outerAxes([1, 1, 4, 5])).toEqual([])
  expect(sliceStart([2, 3, 4, 5], [1, 2])).toBe(100)
  expect(sliceStart([4, 5], [])).toBe(0)
})

test('a slice has its own elements', () => {
  const tensor = { shape: [2, 2, 2], data: [0, 1, 2, 3, 4, 5, 6, 7] } as unknown as Tensor
  expect(dataOf(tensor, sliceStart(tensor.shape, [1]))).toEqual([4, 5, 6, 7])
})
