import type { Grid } from '../trace/training'
import { describe, expect, it } from 'vitest'
import { contour, levelsOf } from './contour'

function gridOf(f: (x: number, y: number) => number, n = 41, from = -2, to = 2): Grid {
  const ticks = Array.from({ length: n }, (_, at) => from + ((to - from) * at) / (n - 1))
  return { xs: ticks, ys: ticks, values: ticks.flatMap((y) => ticks.map((x) => f(x, y))) }
}

describe('contour', () => {
  it('draws a circle of a bowl, at its radius and all around', () => {
    const pieces = contour(gridOf((x, y) => x * x + y * y), 1)
    for (const [x, y] of pieces.flat()) expect(Math.hypot(x, y)).toBeCloseTo(1, 2)
    const ends = pieces.flat().map(([x, y]) => `${x.toFixed(6)} ${y.toFixed(6)}`)
    for (const end of ends) expect(ends.filter((other) => other === end).length % 2).toBe(0)
  })

  it('draws two branches of a saddle, on the right sides', () => {
    const pieces = contour(gridOf((x, y) => x * x - y * y), 0.5)
    expect(new Set(pieces.map(([[x]]) => Math.sign(x))).size).toBe(2)
    for (const [x, y] of pieces.flat()) expect(x * x - y * y).toBeCloseTo(0.5, 1)
  })

  it('tells the two ways through a cell with a saddle in it', () => {
    const cell = (heights: number[]): Grid => ({ xs: [0, 1], ys: [0, 1], values: heights })
    expect(contour(cell([4, 0, 0, 4]), 1).map((line) => line.length)).toEqual([2, 2])
    const low = contour(cell([1.1, 0, 0, 1.1]), 1).flat()
    const high = contour(cell([4, 0, 0, 4]), 1).flat()
    expect(low.some(([x, y]) => x + y < 0.2)).toBe(true)
    expect(high.some(([x, y]) => x + y < 0.2)).toBe(false)
  })

  it('leaves out cells with NaN or infinity', () => {
    const grid = gridOf((x, y) => (x < 0 ? NaN : x > 1.9 ? Infinity : y))
    const line = contour(grid, 0.05).flat()
    expect(Math.min(...line.map(([x]) => x))).toBeGreaterThanOrEqual(0)
    expect(Math.max(...line.map(([x]) => x))).toBeLessThan(1.91)
  })

  it('has no line where nothing is that high', () => {
    expect(contour(gridOf((x, y) => x + y), 99)).toEqual([])
    expect(contour({ xs: [0], ys: [0], values: [1] }, 1)).toEqual([])
  })
})

describe('levelsOf', () => {
  it('shares the grid evenly among round heights', () => {
    const grid = gridOf((x, y) => (1 - x) ** 2 + 100 * (y - x * x) ** 2)
    const levels = levelsOf(grid, 7)
    expect(levels).toHaveLength(7)
    expect(levels.every((level) => level === Number(level.toPrecision(2)))).toBe(true)
    const below = levels.map((level) => grid.values.filter((value) => value < level).length / grid.values.length)
    below.forEach((share, at) => expect(share).toBeCloseTo((at + 1) / 8, 1))
  })

  it('is empty for a flat function and for none', () => {
    expect(levelsOf(gridOf(() => 3))).toEqual([])
    expect(levelsOf(gridOf(() => NaN))).toEqual([])
  })
})
