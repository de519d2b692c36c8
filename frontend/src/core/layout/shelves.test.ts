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
      expect(
        one.x + one.w <= other.x ||
          other.x + other.w <= one.x ||
          one.y + one.h <= other.y ||
          other.y + other.h <= one.y,
      ).toBe(true)
    }
  })
  expect(placed[0]).toMatchObject({ x: 0, y: 0 })
})

test('few parts, and one high graph with something small beside it, stay where they are', () => {
  expect(shelve([{ x: 0, y: 0, w: 200, h: 60 }, { x: 250, y: 0, w: 200, h: 60 }])).toBeNull()
  expect(shelve([{ x: 0, y: 0, w: 800, h: 2000 }, { x: 850, y: 0, w: 200, h: 60 }])).toBeNull()
  expect(shelve([])).toBeNull()
})

test('boxes that belong to nothing stand under the graph, centred, on lines hardly wider than it', () => {
  const graph = { x: 800, y: 0, w: 300, h: 600 }
  const idle = Array.from({ length: 5 }, (_, at) => ({ x: at * 150, y: 10, w: 140, h: 53 }))
  const parts = [...idle.slice(0, 2), graph, ...idle.slice(2)]
  const moves = shelve(parts, new Set([0, 1, 3, 4, 5]))!
  const placed = parts.map((part, at) => ({ ...part, x: part.x + moves[at]!.dx, y: part.y + moves[at]!.dy }))
  expect(Math.min(...placed.map((part) => part.x))).toBe(0)
  expect(Math.max(...placed.map((part) => part.x + part.w))).toBeLessThanOrEqual(480)
  for (const at of [0, 1, 3, 4, 5]) expect(placed[at]!.y).toBeGreaterThan(placed[2]!.y + placed[2]!.h)
  const row = placed.filter((part) => part.y === placed[0]!.y)
  expect(row.length).toBe(2)
  expect(placed[2]!.x + 150).toBeCloseTo(
    (Math.min(...row.map((part) => part.x)) + Math.max(...row.map((part) => part.x + part.w))) / 2,
  )
})

test('a wide graph keeps its place above one box that belongs to nothing', () => {
  const moves = shelve([{ x: 0, y: 0, w: 140, h: 53 }, { x: 200, y: 0, w: 900, h: 300 }], new Set([0]))!
  expect(moves[1]).toEqual({ dx: -200, dy: 0 })
  expect(moves[0]!.dy).toBeGreaterThan(300)
  expect(moves[0]!.dx).toBeCloseTo(380)
})

test('where nothing is joined, lines are all there is', () => {
  const parts = [{ x: 0, y: 0, w: 200, h: 60 }, { x: 250, y: 0, w: 200, h: 60 }]
  expect(shelve(parts, new Set([0, 1]))).toBeNull()
})
