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

function isSame(a: Knot, b: Knot): boolean {
  return a[0] === b[0] && a[1] === b[1]
}

function meet(a: Run, b: Run): boolean {
  return Math.abs(middle(a) - middle(b)) < APART && left(a) < right(b) + 2 * LANE && left(b) < right(a) + 2 * LANE &&
    !isSame(a.from, b.from) && !isSame(a.to, b.to)
}

function left({ from, to }: Run): number {
  return Math.min(from[0], to[0])
}

function right({ from, to }: Run): number {
  return Math.max(from[0], to[0])
}

/** Runs of which each meets another one; those that meet none are left where they are. */
function gathered(runs: readonly Run[]): Run[][] {
  const down = [...runs].sort((a, b) => middle(a) - middle(b))
  const groups = new Map(down.map((run) => [run, [run]]))
  down.forEach((run, at) => {
    for (let next = at + 1; next < down.length && middle(down[next]!) - middle(run) < APART; next++) {
      const [one, other] = [groups.get(run)!, groups.get(down[next]!)!]
      if (one === other || !meet(run, down[next]!)) continue
      one.push(...other)
      for (const moved of other) groups.set(moved, one)
    }
  })
  return [...new Set(groups.values())].filter(({ length }) => length > 1)
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
