import { expect, test } from 'vitest'
import type { Knot } from './geometry'
import { cover } from './route'
import { parted } from './tracks'

/** The heights at which a route runs level. */
function heights(knots: readonly Knot[]): number[] {
  return cover(knots).filter(({ w, h }) => w > 3 * h).map(({ y, h }) => y + h / 2)
}

test('wires that run level over one another have each its own track, those that do not meet share one', () => {
  const routes: Knot[][] = [[[0, 0], [400, 60]], [[100, 0], [700, 60]], [[800, 0], [1000, 60]], [[20, 0], [30, 60]]]
  const found = parted(routes)
  expect(found.map(heights)).toEqual([[37], [23], [30], []])
  expect(found.slice(2)).toEqual(routes.slice(2))
  expect(found.map((knots) => [knots[0], knots.at(-1)])).toEqual(routes)
})

test('what leaves one port is a trunk that branches', () => {
  const fan: Knot[][] = [[[0, 0], [400, 60]], [[0, 0], [700, 60]]]
  expect(parted(fan)).toEqual(fan)
})

test('where there is no room for two tracks nothing moves', () => {
  const low: Knot[][] = [[[0, 0], [400, 15]], [[100, 0], [700, 15]]]
  expect(parted(low)).toEqual(low)
})

test('a route may run level twice', () => {
  const [both] = parted([[[0, 0], [400, 60], [400, 160], [0, 220]], [[100, 0], [700, 60]], [[300, 160], [-90, 220]]])
  expect(both).toHaveLength(6)
  expect(heights(both!)).toHaveLength(2)
})
