import { expect, test } from 'vitest'
import type { Tensor } from '../../api/types'
import { dataOf } from './values'

test('a slice has its own elements', () => {
  const tensor = { shape: [2, 2, 2], data: [0, 1, 2, 3, 4, 5, 6, 7] } as unknown as Tensor
  expect(dataOf(tensor, 4)).toEqual([4, 5, 6, 7])
})
