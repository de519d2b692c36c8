import { expect, test } from 'vitest'
import { narrowed, type Upright } from './narrow'

const box = (x: number, rank: number, left = 50, right = 50): Upright =>
  ({ x, left, right, top: 100 * rank, bottom: 100 * rank + 50 })

test('what stands outermost moves inward, its column with it, and nothing meets', () => {
  const all = [box(50, 0), box(50, 1), box(400, 0), box(400, 1), box(250, 2)]
  expect(narrowed(all, [[0, 1], [2, 3], [1, 4], [3, 4]])).toEqual([50, 50, 170, 170, 110])
})

test('constants take room at the left of their box only', () => {
  expect(narrowed([box(50, 0, 50, 50), box(400, 0, 110, 50)], [])).toEqual([50, 230])
})

test('what is narrow already stays as it is', () => {
  const all = [box(50, 0), box(170, 0), box(110, 1)]
  expect(narrowed(all, [[0, 2], [1, 2]])).toEqual([50, 170, 110])
})
