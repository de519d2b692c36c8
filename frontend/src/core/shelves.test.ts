import { expect, test } from 'vitest'
import { partsOf, shelve } from './shelves'

test('nodes that something joins are one part, numbered by its first node', () => {
  expect(partsOf(5, [{ from: 3, to: 1 }, { from: 1, to: 0 }])).toEqual([0, 0, 1, 0, 2])
  expect(partsOf(3, [])).toEqual([0, 1, 2])
})

test('a long row of parts is broken into lines that do not overlap', () => {
  const parts = Array.from({ length: 12 }, (_, at) => ({ x: at * 300, y: 10, w: 200, h: at === 3 ? 300 : 60 }))
  const moves = shelve(parts)!
  const placed = parts.map((part, at) => ({ ...part, x: part.x + moves[at]!.dx, y: part.y + moves[at]!.dy }))
  expect(Math.max(...placed.map((part) => part.x + part.w))).toBeLessThan(1300)
  placed.forEach((one, at) => {
    for (const other of placed.slice(at + 1)) {
      expect(one.x + one.w <= other.x || other.x + other.w <= one.x || one.y + one.h <= other.y || other.y + other.h <= one.y).toBe(true)
    }
  })
  expect(placed[0]).toMatchObject({ x: 0, y: 0 })
})

test('few parts, and one high graph with something small beside it, stay where they are', () => {
  expect(shelve([{ x: 0, y: 0, w: 200, h: 60 }, { x: 250, y: 0, w: 200, h: 60 }])).toBeNull()
  expect(shelve([{ x: 0, y: 0, w: 800, h: 2000 }, { x: 850, y: 0, w: 200, h: 60 }])).toBeNull()
  expect(shelve([])).toBeNull()
})
