// Parts of a graph that nothing joins, set side by side like words on lines instead of in one endless row.

import type { Rect } from './geometry'

const BETWEEN = 44
const ROW_GAP = 40
/** What fits into a usual panel at the smallest opening zoom. */
const USUAL = 940
/** A line of loose boxes may be this wide under a graph that is not. */
const LEAST = 480
/** Wider than high by more than this, lines are broken. */
const FLAT = 1.5

interface Move {
  dx: number
  dy: number
}

/** How far each part has to move, in the order given; null when they are better left where they are. `loose` are boxes
 *  that belong to nothing: beside a graph they come last, on lines under it. */
export function shelve(parts: readonly Rect[], loose: ReadonlySet<number> = new Set()): Move[] | null {
  const graphs = parts.map((_, at) => at).filter((at) => !loose.has(at))
  if (loose.size === 0 || graphs.length === 0) return onLines(parts, USUAL)
  const own = graphs.map((at) => parts[at]!)
  const left = Math.min(...own.map((part) => part.x))
  const moves: Move[] = parts.map(() => ({ dx: -left, dy: 0 }))
  onLines(own, USUAL)?.forEach((move, at) => (moves[graphs[at]!] = move))
  const [right, bottom] = [
    Math.max(...graphs.map((at) => parts[at]!.x + parts[at]!.w + moves[at]!.dx)),
    Math.max(...graphs.map((at) => parts[at]!.y + parts[at]!.h + moves[at]!.dy)),
  ]
  const lines = broken(
    [...loose].map((at) => parts[at]!), Math.max(right, LEAST),
  )
  const over = Math.max(0, lines.width - right) / 2
  for (const move of moves) move.dx += over
  const begin = over + (right - lines.width) / 2
  ;[...loose].forEach((at, number) => {
    const { x, y } = lines.places[number]!
    moves[at] = { dx: begin + x - parts[at]!.x, dy: bottom + 2 * ROW_GAP + y - parts[at]!.y }
  })
  return moves
}

function onLines(parts: readonly Rect[], least: number): Move[] | null {
  if (parts.length < 2) return null
  const whole = Math.max(...parts.map((part) => part.x + part.w)) - Math.min(...parts.map((part) => part.x))
  const tallest = Math.max(...parts.map((part) => part.h))
  if (whole <= Math.max(least, FLAT * tallest)) return null
  const area = parts.reduce((sum, part) => sum + (part.w + BETWEEN) * (part.h + ROW_GAP), 0)
  const { places } = broken(parts, Math.max(least, Math.sqrt(area * FLAT)))
  return parts.map((part, at) => ({ dx: places[at]!.x - part.x, dy: places[at]!.y - part.y }))
}

/** Where each part stands, like words on lines of a width; one that is wider has a line of its own. */
function broken(parts: readonly Rect[], width: number): { places: { x: number; y: number }[]; width: number } {
  let [x, y, high, widest] = [0, 0, 0, 0]
  const most = Math.max(width, ...parts.map((part) => part.w))
  const places = parts.map((part) => {
    if (x > 0 && x + part.w > most) [x, y, high] = [0, y + high + ROW_GAP, 0]
    const place = { x, y }
    widest = Math.max(widest, x + part.w)
    x += part.w + BETWEEN
    high = Math.max(high, part.h)
    return place
  })
  return { places, width: widest }
}

/** Which part each of `count` nodes belongs to, parts numbered by their first node. */
export function partsOf(count: number, pairs: Iterable<{ from: number; to: number }>): number[] {
  const parent = Array.from({ length: count }, (_, at) => at)
  const top = (at: number): number => {
    while (parent[at] !== at) at = parent[at] = parent[parent[at]!]!
    return at
  }
  for (const { from, to } of pairs) {
    const [a, b] = [top(from), top(to)]
    parent[Math.max(a, b)] = Math.min(a, b)
  }
  const numbers = new Map<number, number>()
  return parent.map((_, at) => {
    const root = top(at)
    if (!numbers.has(root)) numbers.set(root, numbers.size)
    return numbers.get(root)!
  })
}
