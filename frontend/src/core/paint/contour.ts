// Contour lines of a function given on a grid: marching squares.

import type { Grid } from '../trace/training'

type Point = readonly [number, number]

/** Heights worth a line: even shares of the grid lie between them, two digits each. */
export function levelsOf(grid: Grid, count = 9): number[] {
  const sorted = grid.values.filter(Number.isFinite).sort((a, b) => a - b)
  if (sorted.length === 0 || sorted[0] === sorted.at(-1)) return []
  const found = new Set<number>()
  for (let at = 1; at <= count; at += 1) {
    const level = Number(sorted[Math.floor(((sorted.length - 1) * at) / (count + 1))]!.toPrecision(2))
    if (level > sorted[0]! && level < sorted.at(-1)!) found.add(level)
  }
  return [...found]
}

/** The line at one height, piece by piece: each from edge to edge of a cell. */
export function contour(grid: Grid, level: number): (readonly [Point, Point])[] {
  const { xs, ys } = grid
  return ys.slice(1).flatMap((_, row) => xs.slice(1).flatMap((__, column) => ofCell(grid, level, row, column)))
}

/** Corners in turn: bottom left, bottom right, top right, top left; side `k` runs from corner `k` to the next. */
function ofCell({ xs, ys, values }: Grid, level: number, row: number, column: number): [Point, Point][] {
  const corners: readonly Point[] = [[column, row], [column + 1, row], [column + 1, row + 1], [column, row + 1]]
  const heights = corners.map(([x, y]) => values[y * xs.length + x]!)
  if (!heights.every(Number.isFinite)) return []
  const above = heights.map((height) => height >= level)
  const crossed = [0, 1, 2, 3].filter((side) => above[side] !== above[(side + 1) % 4])
  const end = (side: number): Point => {
    const [from, to] = [side, (side + 1) % 4]
    const share = (level - heights[from]!) / (heights[to]! - heights[from]!)
    const [[x, y], [u, v]] = [corners[from]!, corners[to]!]
    return [xs[x]! + (xs[u]! - xs[x]!) * share, ys[y]! + (ys[v]! - ys[y]!) * share]
  }
  if (crossed.length === 2) return [[end(crossed[0]!), end(crossed[1]!)]]
  if (crossed.length !== 4) return []
  // A saddle: what the middle belongs to decides which corners are cut off.
  const middle = heights.reduce((sum, height) => sum + height, 0) / 4 >= level
  return middle === above[0] ? [[end(0), end(1)], [end(2), end(3)]] : [[end(3), end(0)], [end(1), end(2)]]
}
