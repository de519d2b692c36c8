import { expect, test } from 'vitest'
import { axisFrom, axisOf, byteTicks, linePath, niceStep } from './chart'

test('an axis covers its numbers with round ticks', () => {
  const axis = axisOf([0.13, 2.4])
  expect(axis.log).toBe(false)
  expect(axis.ticks).toEqual([0, 1, 2, 3])
  expect(axis.at(0)).toBe(0)
  expect(axis.at(3)).toBe(1)
  expect(axis.at(NaN)).toBeNull()
})

test('numbers far apart get a logarithmic axis, unless one is not positive', () => {
  const axis = axisOf([1e-4, 2, 50])
  expect(axis.log).toBe(true)
  expect(axis.at(1e-4)).toBe(0)
  expect(axis.at(100)).toBe(1)
  expect(axis.at(0)).toBeNull()
  expect(axis.ticks.length).toBeLessThanOrEqual(7)
  expect(axisOf([0, 1e-4, 50]).log).toBe(false)
  expect(axisOf([-1, 1e-4, 50]).log).toBe(false)
  expect(axisOf([...Array.from({ length: 20 }, (_, at) => 10 ** -at), 0]).log).toBe(true)
})

test('one number, none and non-finite ones still make an axis', () => {
  expect(axisOf([4]).at(4)).toBeCloseTo(0.5)
  expect(axisOf([0]).at(0)).toBeCloseTo(0.5)
  expect(axisOf([]).ticks.length).toBeGreaterThan(1)
  expect(axisOf([NaN, Infinity, 2]).at(2)).toBeCloseTo(0.5)
  expect(axisOf([-1e-9, 1e-9]).ticks).toContain(0)
})

test('steps are 1, 2 or 5 times a power of ten; bytes go by powers of two', () => {
  expect([0.7, 1.2, 3, 70].map(niceStep)).toEqual([1, 2, 5, 100])
  expect(byteTicks(1000)).toEqual([0, 512])
  expect(byteTicks(3 * 1024)).toEqual([0, 1024, 2048, 3072])
  expect(byteTicks(0)).toEqual([0])
})

test('a line breaks where a point is missing', () => {
  expect(linePath([[0, 1], [2, 3.14159], null, [4, 5]])).toBe('M0 1L2 3.1M4 5')
})

test('an axis from here to there has its ticks within', () => {
  const axis = axisFrom(-2.3, 0.49)
  expect(axis.ticks).toEqual([-2, -1, 0])
  expect(axis.at(-2.3)).toBe(0)
  expect(axis.at(0.49)).toBe(1)
  expect(axis.at(Infinity)).toBeNull()
})
