// Boxes that hand on to each other, as the turns of a loop do, stand under each other: what enters several of them
// passes beside those it does not enter.

import type { Level } from './level'

/** Lanes that pass side by side are at least so far apart. */
const APART = 18
/** Between a label and the next lane. */
const LEAST = 10
/** Fewer boxes stand well as they are. */
const FEWEST = 3

type Centre = Readonly<{ x: number; y: number }>

interface Joined {
  from: number
  to: number
  reserve: number
}

/** Of pairs of a level those that say nothing about where its boxes stand: of ports that lead to an earlier one
 *  too. */
export function passing(level: Level, pairs: readonly Joined[]): ReadonlySet<number> {
  const chain = chainOf(level, pairs)
  const led = new Set<number>()
  const found = new Set<number>()
  for (const box of chain)
    for (const [at, { from, to }] of pairs.entries()) {
      if (to !== box || level.nodes[from]!.role !== 'in') continue
      if (led.has(from)) found.add(at)
      led.add(from)
    }
  return found
}

/** The boxes of a level in their order, if each is joined to the next and to no other. */
function chainOf({ nodes }: Level, pairs: readonly Joined[]): readonly number[] {
  const boxes = nodes.flatMap(({ role, across }, at) => (role === 'item' && !across ? [at] : []))
  const joints = pairs.filter(({ from, to }) => nodes[from]!.role === 'item' && nodes[to]!.role === 'item')
  const next = new Map(joints.map(({ from, to }) => [from, to]))
  const fed = new Set(next.values())
  if (boxes.length < FEWEST || joints.length !== boxes.length - 1 || fed.size !== joints.length) return []
  const chain: number[] = []
  for (let box = boxes.find((at) => !fed.has(at)); box !== undefined; box = next.get(box)) chain.push(box)
  return chain.length === boxes.length ? chain : []
}

/** Where they pass: beside all that stands, those to a later box further out, at the side their port is at; the label
 *  of each has room at its right. */
export function lanesOf(
  level: Level, pairs: readonly Joined[], beside: ReadonlySet<number>, centres: readonly Centre[],
  points: readonly (readonly Centre[])[],
): (readonly Centre[])[] {
  const boxes = level.nodes.flatMap(({ role, size }, at) =>
    role === 'item' ? [{ ...centres[at]!, half: size.w / 2 }] : [])
  const taken = [...boxes.flatMap(({ x, half }) => [x - half, x + half]), ...points.flat().map(({ x }) => x)]
  let [left, right] = [Math.min(...taken), Math.max(...taken)]
  const middle = (left + right) / 2
  let room = 0
  const lanes = [...points]
  const further = (a: Joined, b: Joined): number =>
    centres[a.to]!.y - centres[b.to]!.y || Math.abs(centres[a.from]!.x - middle) - Math.abs(centres[b.from]!.x - middle)
  for (const at of [...beside].sort((a, b) => further(pairs[a]!, pairs[b]!))) {
    const { from, to, reserve } = pairs[at]!
    const own = Math.max(APART, reserve / 2 + LEAST)
    const isLeft = centres[from]!.x < middle
    const x = isLeft ? (left -= own) : (right += Math.max(APART, room))
    if (!isLeft) room = own
    lanes[at] = boxes.flatMap(({ y }) => (y < centres[to]!.y ? [{ x, y }] : []))
  }
  return lanes
}

/** With ports in the order of the level, as what leads to them stands above. */
export function inOrder(level: Level, beside: ReadonlySet<number>, centres: readonly Centre[]): readonly Centre[] {
  if (beside.size === 0) return centres
  const ports = level.nodes.flatMap(({ role }, at) => (role === 'in' ? [at] : []))
  const xs = ports.map((at) => centres[at]!.x).sort((a, b) => a - b)
  return centres.map((centre, at) => (ports.includes(at) ? { x: xs[ports.indexOf(at)]!, y: centre.y } : centre))
}
