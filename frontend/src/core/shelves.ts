// Parts of a graph that nothing joins, set side by side like words on lines instead of in one endless row.

import type { Rect } from './route'

const BETWEEN = 44
const ROW_GAP = 40
/** What fits into a usual panel at the smallest opening zoom. */
const USUAL = 940
/** Wider than high by more than this, lines are broken. */
const FLAT = 1.5

/** How far each part has to move, in the order given; null when they are better left where they are. */
export function shelve(parts: readonly Rect[]): { dx: number; dy: number }[] | null {
  if (parts.length < 2) return null
  const whole = Math.max(...parts.map((part) => part.x + part.w)) - Math.min(...parts.map((part) => part.x))
  const tallest = Math.max(...parts.map((part) => part.h))
  if (whole <= Math.max(USUAL, FLAT * tallest)) return null
  const area = parts.reduce((sum, part) => sum + (part.w + BETWEEN) * (part.h + ROW_GAP), 0)
  const width = Math.max(USUAL, Math.sqrt(area * FLAT), ...parts.map((part) => part.w))
  let [x, y, high] = [0, 0, 0]
  return parts.map((part) => {
    if (x > 0 && x + part.w > width) [x, y, high] = [0, y + high + ROW_GAP, 0]
    const moved = { dx: x - part.x, dy: y - part.y }
    x += part.w + BETWEEN
    high = Math.max(high, part.h)
    return moved
  })
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
