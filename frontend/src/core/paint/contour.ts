// Contour lines of a function given on a grid: marching squares, the pieces joined to lines.

import type { Grid } from '../trace/training'

export type Line = (readonly [number, number])[]

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

/** The lines at one height; a closed one ends where it began. */
export function contour(grid: Grid, level: number): Line[] {
  return joined(pieces(grid, level))
}

/** A piece within one cell: from one edge of the grid to another, each edge with a number of its own. */
type Piece = readonly [End, End]
interface End {
  edge: number
  at: readonly [number, number]
}

function pieces(grid: Grid, level: number): Piece[] {
  const { xs, ys } = grid
  const found: Piece[] = []
  for (let row = 0; row + 1 < ys.length; row += 1) {
    for (let column = 0; column + 1 < xs.length; column += 1) found.push(...ofCell(grid, level, row, column))
  }
  return found
}

/** Corners in turn: bottom left, bottom right, top right, top left; side `k` runs from corner `k` to the next. */
function ofCell(grid: Grid, level: number, row: number, column: number): Piece[] {
  const { xs, ys, values } = grid
  const width = xs.length
  const corners = [
    [column, row],
    [column + 1, row],
    [column + 1, row + 1],
    [column, row + 1],
  ] as const
  const heights = corners.map(([x, y]) => values[y * width + x]!)
  if (!heights.every(Number.isFinite)) return []
  const above = heights.map((height) => height >= level)
  const crossed = [0, 1, 2, 3].filter((side) => above[side] !== above[(side + 1) % 4])
  const end = (side: number): End => {
    const [from, to] = [side, (side + 1) % 4]
    const share = (level - heights[from]!) / (heights[to]! - heights[from]!)
    const [[x, y], [u, v]] = [corners[from]!, corners[to]!]
    const at = [xs[x]! + (xs[u]! - xs[x]!) * share, ys[y]! + (ys[v]! - ys[y]!) * share] as const
    return { edge: 2 * (Math.min(y, v) * width + Math.min(x, u)) + (y === v ? 0 : 1), at }
  }
  if (crossed.length === 2) return [[end(crossed[0]!), end(crossed[1]!)]]
  if (crossed.length !== 4) return []
  // A saddle: what the middle belongs to decides which corners are cut off.
  const middle = heights.reduce((sum, height) => sum + height, 0) / 4 >= level
  const turned = middle === above[0]
  return turned
    ? [
        [end(0), end(1)],
        [end(2), end(3)],
      ]
    : [
        [end(3), end(0)],
        [end(1), end(2)],
      ]
}

function joined(all: readonly Piece[]): Line[] {
  const byEdge = new Map<number, number[]>()
  all.forEach((piece, at) => {
    for (const { edge } of piece) {
      const list = byEdge.get(edge)
      if (list) list.push(at)
      else byEdge.set(edge, [at])
    }
  })
  const used = new Set<number>()
  const follow = (from: End, line: Line): void => {
    let end: End | undefined = from
    while (end) {
      line.push(end.at)
      const { edge }: End = end
      const next: number | undefined = byEdge.get(edge)!.find((at) => !used.has(at))
      if (next === undefined) return
      used.add(next)
      const [a, b]: Piece = all[next]!
      end = a.edge === edge ? b : a
    }
  }
  const lines: Line[] = []
  all.forEach((piece, at) => {
    if (used.has(at)) return
    used.add(at)
    const [back, forth]: [Line, Line] = [[], []]
    follow(piece[1], forth)
    follow(piece[0], back)
    lines.push([...back.reverse(), ...forth])
  })
  return lines
}

/** Where a number can stand on lines: the point farthest from all that must stay free, at least `least` away. */
export function labelPlace(lines: readonly Line[], free: Line, least: number): readonly [number, number] | null {
  let found: readonly [number, number] | null = null
  let most = least
  for (const point of lines.flat()) {
    const distance = free.reduce(
      (near, [x, y]) => Math.min(near, Math.hypot((point[0] - x) * 0.6, point[1] - y)), Infinity,
    )
    if (distance > most) [found, most] = [point, distance]
  }
  return found
}
