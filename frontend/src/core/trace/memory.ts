// Bytes over the steps of a run, in four parts, as stacked areas.

import type { MemoryPoint, Trace } from '../../api/types'

/** From the bottom up: what stays lies below what comes and goes. */
export const PARTS = ['parameters', 'optimizer', 'gradients', 'activations'] as const
export type Part = (typeof PARTS)[number]
export type Bytes = Readonly<Record<Part, number>>

export const EMPTY: Bytes = { parameters: 0, optimizer: 0, gradients: 0, activations: 0 }

export function totalOf(bytes: Bytes): number {
  return PARTS.reduce((sum, part) => sum + bytes[part], 0)
}

/** What is held once `step` steps have happened. Points come in the order of their steps. */
export function bytesAt(points: readonly MemoryPoint[], step: number): Bytes {
  return points.findLast((point) => point.step < step) ?? EMPTY
}

/** The first step after which the most bytes are held. */
export function peakOf(points: readonly MemoryPoint[]): { step: number; bytes: number } {
  let peak = { step: 0, bytes: 0 }
  for (const point of points) {
    const bytes = totalOf(point)
    if (bytes > peak.bytes) peak = { step: point.step + 1, bytes }
  }
  return peak
}

/** Stretches of steps in which a checkpoint computed forward operations again, first and last step of each. */
export function computedAgain(trace: Trace): { from: number; to: number }[] {
  const again = new Set(trace.ops.filter((op) => op.rerun_of != null).map((op) => op.id))
  const found: { from: number; to: number }[] = []
  if (again.size === 0) return found
  let open = false
  trace.timeline.forEach((event, at) => {
    const step = at + 1
    if (event.kind === 'op' && event.op != null && again.has(event.op)) {
      if (open) found.at(-1)!.to = step
      else found.push({ from: step, to: step })
      open = true
    } else if (event.kind === 'visit' || event.kind === 'pass' || event.kind === 'pass_end') open = false
  })
  return found
}

/** What `saved.reason` says of what a pack hook put where nobody looks: its bytes are not counted. */
const NOT_LOOKED_INTO = 'kept_unseen'

/** How many saved tensors the areas leave out. */
export function unseen(trace: Trace): number {
  let count = 0
  for (const node of trace.nodes) for (const saved of node.saved ?? []) if (saved.reason === NOT_LOOKED_INTO) count += 1
  return count
}

/** How many writes into views there are, whose nodes do not show what the op inside keeps. */
export function hidden(trace: Trace): number {
  return trace.nodes.filter((node) => node.type === 'CopySlices').length
}

/** Points to draw: of those that fall on one pixel only the highest and the last. */
export function thinned(points: readonly MemoryPoint[], x: (step: number) => number): MemoryPoint[] {
  const kept: MemoryPoint[] = []
  let pixel = NaN
  let highest: MemoryPoint | undefined
  let last: MemoryPoint | undefined
  const flush = (): void => {
    if (highest && highest !== last) kept.push(highest)
    if (last) kept.push(last)
  }
  for (const point of points) {
    const here = Math.floor(x(point.step + 1))
    if (here !== pixel) {
      flush()
      highest = undefined
      pixel = here
    }
    if (!highest || totalOf(point) > totalOf(highest)) highest = point
    last = point
  }
  flush()
  return kept.sort((a, b) => a.step - b.step)
}

/** One path a part: a level from each point to the next, stacked on the parts below it. `x` takes steps, `y` bytes. */
export function areas(
  points: readonly MemoryPoint[], total: number, x: (step: number) => number, y: (bytes: number) => number,
): Record<Part, string> {
  const drawn = thinned(points, x)
  const base = new Array<number>(drawn.length).fill(0)
  const paths = {} as Record<Part, string>
  for (const part of PARTS) {
    const top = drawn.map((point, at) => base[at]! + point[part])
    paths[part] = drawn.length === 0 ? '' : outline(drawn, top, base, total, x, y)
    top.forEach((bytes, at) => (base[at] = bytes))
  }
  return paths
}

function outline(
  points: readonly MemoryPoint[], top: readonly number[], base: readonly number[], total: number,
  x: (step: number) => number, y: (bytes: number) => number,
): string {
  const ends = points.map((point) => round(x(point.step + 1)))
  const right = round(x(total))
  let path = `M${ends[0]} ${round(y(top[0]!))}`
  for (let at = 1; at < points.length; at += 1) path += `H${ends[at]}V${round(y(top[at]!))}`
  path += `H${right}V${round(y(base.at(-1)!))}`
  for (let at = points.length - 1; at > 0; at -= 1) path += `H${ends[at]}V${round(y(base[at - 1]!))}`
  return `${path}H${ends[0]}Z`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
