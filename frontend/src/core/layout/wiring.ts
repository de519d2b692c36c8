// The wires of a level: from port to port, straight beside the bands they pass, and where they branch.

import { push } from '../trace/trace-index'
import { bandsOf } from './bands'
import type { Knot, Wire } from './geometry'
import { nodeOf, type Bundle, type Level } from './level'
import { portsAlong, type PortWish } from './ports'
import { round } from './round'
import { parted } from './tracks'

/** Wires that join the same two boxes pass others so far from each other. */
const BESIDE = 18

interface End {
  key: string
  x: number
  y: number
  centre: number
  width: number
  isBox: boolean
  across: boolean
  /** On a box or an open group, not on a port of the level itself. */
  onItem: boolean
  reach: number
}

function knot(end: End): Knot {
  return [end.x, end.y]
}

/** The wires of a level that stands at (x, y), and the dots where they branch. `inner` are the levels in it that are
 *  open. */
export class Wiring {
  readonly wires: Wire[] = []
  readonly dots: Knot[] = []

  constructor(
    private readonly level: Level,
    private readonly x: number,
    private readonly y: number,
    private readonly inner: (key: string) => Level | undefined,
  ) {
    this.route()
  }

  private route(): void {
    const { level, x, y } = this
    const bands = bandsOf(level)
    const ends = level.bundles.map((bundle) => ({
      bundle, from: this.end(bundle.from, 'bottom'), to: this.end(bundle.to, 'top'),
    }))
    const inner = ends.map(({ bundle, from, to }, at) => {
      const { pair } = bundle
      const twins = ends.flatMap((end, at) => (end.bundle.pair === pair ? [at] : []))
      const aside = BESIDE * (twins.indexOf(at) - (twins.length - 1) / 2)
      const points = level.shape.pairs[pair]!
      const crossed = bands.filter((band) => y + band.top > from.y + 1 && y + band.bottom < to.y - 1)
      return crossed.flatMap((band): Knot[] => {
        const point = points.find(([, py]) => py >= band.top - 1 && py <= band.bottom + 1)
        if (!point) return []
        const px = x + point[0] + aside
        return [[px, y + band.top], [px, y + band.bottom]]
      })
    })
    this.spread(
      ends.map((end) => end.from), ends.map((end, at) => inner[at]![0]?.[0] ?? end.to.centre),
      ends.map((end) => end.bundle),
    )
    this.spread(
      ends.map((end) => end.to), ends.map((end, at) => inner[at]!.at(-1)?.[0] ?? end.from.x),
      ends.map((end) => end.bundle),
    )
    const routes = ends.map(({ from, to }, at) => {
      if (isUpward(from, to)) return [knot(from), knot(to)]
      const startBand = bands.find((band) => y + band.top - 1 <= from.y && from.y <= y + band.bottom + 1)
      const endBand = bands.find((band) => y + band.top - 1 <= to.y && to.y <= y + band.bottom + 1)
      const ahead: Knot[] = !from.onItem
        ? [[from.x, y + from.reach]]
        : startBand
          ? [[from.x, y + startBand.bottom]]
          : []
      const behind: Knot[] = !to.onItem ? [[to.x, y + to.reach]] : endBand ? [[to.x, y + endBand.top]] : []
      return tidy([knot(from), ...ahead, ...inner[at]!, ...behind, knot(to)])
    })
    const tracks = parted(routes)
    const leaving = new Map<string, number>()
    ends.forEach(({ bundle, from, to }, at) => {
      const upward = isUpward(from, to)
      const links = bundle.hops.map((hop) => hop.link.id)
      this.wires.push({
        id: `${level.id}/${bundle.from}>${bundle.to}/${links[0]}`,
        links,
        source: bundle.from,
        target: bundle.to,
        knots: upward ? routes[at]! : tracks[at]!,
        upward,
        labelled: bundle.labelled,
        starts_at_box: from.isBox,
        ends_at_box: to.isBox,
        forward: null,
        gradient: null,
        badge: null,
      })
      if (bundle.from.startsWith('in ')) leaving.set(bundle.from, (leaving.get(bundle.from) ?? 0) + 1)
    })
    for (const [pin, count] of leaving) {
      if (count < 2) continue
      const [px] = level.shape.nodes[level.at.get(pin)!]!
      const fan = ends.flatMap((end, at) =>
        end.bundle.from === pin ? [this.wires[at]!] : [],
      )
      const bend = Math.min(...fan.map((wire) => firstBend(wire.knots)))
      this.dots.push([x + px, bend])
    }
  }

  private end(key: string, side: 'top' | 'bottom'): End {
    const { level, x, y } = this
    const node = level.nodes[level.at.get(nodeOf(key, level))!]!
    const [cx, top] = level.shape.nodes[level.at.get(node.key)!]!
    if (node.role !== 'item')
      return {
        key: node.key, x: x + cx, y: y + top, centre: x + cx, width: 0, isBox: false, across: false, onItem: false,
        reach: level.shape.reaches[level.at.get(node.key)!]!,
      }
    const inner = this.inner(node.key)
    const edge = y + top + (side === 'bottom' ? node.box!.h : 0)
    if (inner) {
      const pin = key.slice(node.key.length + 1)
      const left = x + cx - node.box!.w / 2
      const [px] = inner.shape.nodes[inner.at.get(pin)!]!
      return {
        key, x: left + px, y: edge, centre: left + px, width: 0, isBox: false, across: false, onItem: true,
        reach: 0,
      }
    }
    return {
      key: node.key, x: x + cx, y: edge, centre: x + cx, width: node.box!.w, isBox: true,
      across: node.across ?? false, onItem: true, reach: 0,
    }
  }

  /** Gives the wires on one side of a box their own ports, ordered by where they come from. */
  private spread(ends: readonly End[], towards: readonly number[], bundles: readonly Bundle[]): void {
    const sides = new Map<string, PortWish[]>()
    ends.forEach((end, at) => {
      if (!end.isBox) return
      push(sides, end.key, { at, towards: towards[at]!, pair: bundles[at]!.pair })
    })
    for (const wishes of sides.values()) {
      const { centre, width, across } = ends[wishes[0]!.at]!
      portsAlong(wishes, centre, width, across).forEach((port, at) => (ends[wishes[at]!.at]!.x = round(port)))
    }
  }
}

/** Where a consumer lies above its producer. */
function isUpward(from: End, to: End): boolean {
  return to.y < from.y + 2
}

function tidy(knots: readonly Knot[]): Knot[] {
  const kept: Knot[] = []
  for (const knot of knots) {
    const before = kept[kept.length - 1]
    if (before && knot[1] < before[1]) continue
    if (before && Math.abs(before[0] - knot[0]) < 0.01 && Math.abs(before[1] - knot[1]) < 0.01) continue
    kept.push(Math.abs((before?.[0] ?? Infinity) - knot[0]) < 2 && before ? [before[0], knot[1]] : knot)
  }
  const end = knots[knots.length - 1]!
  const last = kept[kept.length - 1]!
  if (last[0] !== end[0]) kept[kept.length - 1] = end
  return kept
}

function firstBend(knots: readonly Knot[]): number {
  for (let at = 1; at < knots.length; at++) if (knots[at]![0] !== knots[at - 1]![0]) return knots[at - 1]![1]
  return Infinity
}
