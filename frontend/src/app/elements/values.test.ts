import { expect, test } from 'vitest'
import type { Tensor } from '../../api/types'
import { dataOf, figures } from './values'

test('a slice has its own elements', () => {
  const tensor = { shape: [2, 2, 2], data: [0, 1, 2, 3, 4, 5, 6, 7] } as unknown as Tensor
  expect(dataOf(tensor, 4)).toEqual([4, 5, 6, 7])
})

test('of no finite element there are counts and no figures', () => {
  const told = figures({ shape: [2], dtype: 'float32', data: ['nan', 'inf'] } as unknown as Tensor)
  expect(told).toMatchObject({ min: NaN, max: NaN, mean: NaN, std: NaN, zeros: 0, nan: 1, inf: 1 })
})
