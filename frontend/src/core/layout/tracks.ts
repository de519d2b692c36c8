// Wires that run level between two ranks, each on a track of its own: on one track they would hide each other.

import type { Knot } from './geometry'
import { FLAT, LANE } from './route'

/** Between the middles of two tracks. */
const APART = 4 * LANE

interface Run {
  route: number
  /** Which of its knots it leads to. */
  at: number
  from: Knot
  to: Knot
}

/** The routes, those of them moved apart that would run level over one another. What leaves one port, or comes to one,
 *  is a trunk that branches. */
export function parted(routes: readonly (readonly Knot[])[]): (readonly Knot[])[] {
  const more = routes.map(() => new Map<number, [Knot]>())
  for (const together of gathered(routes.flatMap(levelRuns))) {
    const tracks = tracksOf(together)
    const most = Math.max(...tracks)
    const top = Math.max(...together.map(({ from }) => from[1]))
    const bottom = Math.min(...together.map(({ to }) => to[1]))
    const step = Math.min(APART, (bottom - top - APART) / most)
    if (step < LANE) continue
    together.forEach((run, n) => {
      more[run.route]!.set(run.at, [turnedAt(run, (top + bottom) / 2 + step * (tracks[n]! - most / 2))])
    })
  }
  return routes.map((knots, route) => knots.flatMap((knot, at) => [...more[route]!.get(at) ?? [], knot]))
}

function levelRuns(knots: readonly Knot[], route: number): Run[] {
  return knots.slice(1).flatMap((to, at) => {
    const from = knots[at]!
    return Math.abs(to[0] - from[0]) > FLAT * (to[1] - from[1]) ? [{ route, at: at + 1, from, to }] : []
  })
}

function middle({ from, to }: Run): number {
  return (from[1] + to[1]) / 2
}

function meet(a: Run, b: Run): boolean {
  const [left, right] = [a, b].map(({ from, to }) => [from[0], to[0]].sort((x, y) => x - y) as [number, number])
  return String(a.from) !== String(b.from) && String(a.to) !== String(b.to) &&
    Math.abs(middle(a) - middle(b)) < APART &&
    left![0] < right![1] + 2 * LANE && right![0] < left![1] + 2 * LANE
}

/** Runs of which each meets another one; those that meet none are left where they are. */
function gathered(runs: readonly Run[]): Run[][] {
  const left = new Set(runs)
  const found: Run[][] = []
  for (const first of runs) {
    if (!left.delete(first)) continue
    const together = [first]
    for (const one of together) {
      const met = [...left].filter((other) => meet(one, other))
      for (const other of met) left.delete(other)
      together.push(...met)
    }
    if (together.length > 1) found.push(together)
  }
  return found
}

/** The track of each, counted from the top: one that crosses fewer lanes above another stands above it. */
function tracksOf(runs: readonly Run[]): number[] {
  const order: number[] = []
  runs.forEach((run, at) => {
    const before = order.findIndex((other) => crossings(run, runs[other]!) < crossings(runs[other]!, run))
    order.splice(before < 0 ? order.length : before, 0, at)
  })
  const tracks = runs.map(() => 0)
  order.forEach((at, place) => {
    const over = order.slice(0, place).filter((other) => meet(runs[at]!, runs[other]!))
    tracks[at] = Math.max(-1, ...over.map((other) => tracks[other]!)) + 1
  })
  return tracks
}

/** How often two runs cross where the first is above. */
function crossings(above: Run, below: Run): number {
  const within = (x: number, { from, to }: Run) => (x - from[0]) * (x - to[0]) < 0
  return Number(within(above.to[0], below)) + Number(within(below.from[0], above))
}

/** What makes a run level at a height: it is straight for longer at one of its ends. */
function turnedAt({ from, to }: Run, y: number): Knot {
  return y > (from[1] + to[1]) / 2 ? [from[0], 2 * y - to[1]] : [to[0], 2 * y - from[1]]
}
