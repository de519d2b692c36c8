// Moves what stands outermost inward, for a small graph that is wider than its window: boxes keep their order, and what
// stands in one column stays in it.

/** Something that is as high as its rank: a box, or where a long wire passes one. */
export interface Upright {
  x: number
  /** How far it reaches to both sides of that. */
  left: number
  right: number
  top: number
  bottom: number
}

const APART = 20
const LEAST = 1
const MOST_MOVES = 60

/** The places of all of them in as little width as that allows; `joined` are pairs of them. */
export function narrowed(all: readonly Upright[], joined: readonly (readonly [number, number])[]): number[] {
  const xs = all.map(({ x }) => x)
  const columns = columnsOf(all, joined)
  const every = [...all.keys()]
  for (const side of [1, -1] as const) {
    const out = (at: number): number => side * xs[at]! + (side > 0 ? all[at]!.right : all[at]!.left)
    const inner = (at: number): number => side * xs[at]! - (side > 0 ? all[at]!.left : all[at]!.right)
    /** How far these can move inward, and what is in their way. */
    const roomOf = (moved: ReadonlySet<number>): [room: number, nearest: number] => {
      const others = every.filter((at) => !moved.has(at))
      const most = (some: readonly number[]) => Math.max(...some.map(out))
      const least = Math.min(...every.map(inner))
      let [room, nearest] = [Math.min(most([...moved]) - most(others), Math.min(...[...moved].map(inner)) - least), -1]
      for (const at of moved)
        for (const other of others) {
          if (!isLevel(all[at]!, all[other]!) || side * (xs[at]! - xs[other]!) < 0) continue
          const between = inner(at) - out(other) - APART
          if (between < room) [room, nearest] = [between, other]
        }
      return [room, nearest]
    }
    const moves = (): boolean => {
      const most = Math.max(...every.map(out))
      const moved = new Set(every.filter((at) => out(at) > most - LEAST).flatMap((at) => columns[at]!))
      while (moved.size < all.length) {
        const [room, nearest] = roomOf(moved)
        for (const at of room < LEAST ? [] : moved) xs[at]! -= side * room
        if (room >= LEAST || nearest < 0) return room >= LEAST
        for (const at of columns[nearest]!) moved.add(at)
      }
      return false
    }
    for (let tried = 0; tried < MOST_MOVES && moves();) tried += 1
  }
  settle(all, xs, joined, columns)
  return xs
}

/** What stands in no column goes back to the middle of what it is joined to, as far as there is room. */
function settle(
  all: readonly Upright[], xs: number[], joined: readonly (readonly [number, number])[], columns: readonly number[][],
): void {
  for (const [at, one] of all.entries()) {
    const near = joined.flatMap(([a, b]) => (a === at ? [xs[b]!] : b === at ? [xs[a]!] : []))
    if (columns[at]!.length > 1 || near.length === 0) continue
    let [from, to] = [
      Math.min(...all.map(({ left }, each) => xs[each]! - left)) + one.left,
      Math.max(...all.map(({ right }, each) => xs[each]! + right)) - one.right,
    ]
    for (const [other, { left, right }] of all.entries()) {
      if (other === at || !isLevel(one, all[other]!)) continue
      if (xs[other]! < xs[at]!) from = Math.max(from, xs[other]! + right + APART + one.left)
      else to = Math.min(to, xs[other]! - left - APART - one.right)
    }
    const middle = (Math.min(...near) + Math.max(...near)) / 2
    if (from <= to) xs[at] = Math.max(from, Math.min(to, middle))
  }
}

function isLevel(one: Upright, other: Upright): boolean {
  return one.top < other.bottom && other.top < one.bottom
}

/** Of each what it is joined to without a bend, itself among them. */
function columnsOf(all: readonly Upright[], joined: readonly (readonly [number, number])[]): number[][] {
  const columns = all.map((_, at) => [at])
  for (const [one, other] of joined) {
    if (Math.abs(all[one]!.x - all[other]!.x) >= LEAST || columns[one] === columns[other]) continue
    const both = [...columns[one]!, ...columns[other]!]
    for (const at of both) columns[at] = both
  }
  return columns
}
