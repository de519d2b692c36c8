// Where the labels of wires go: beside their lane, off every box, lane and other label; shorter when there is no room.

import type { Badge, Knot, LabelPlace, LayoutLink, Rect, Size, Wire } from './geometry'
import { badgeRects } from './extent'
import { push } from '../trace/trace-index'
import { cover, LANE, middleOf } from './route'

const LEFT_OF_LANE = LANE + 9
const RIGHT_OF_LANE = LANE + 10
const SLIDE = 8
const MARGIN = 1
const APART = 5
const DOT = 5

type Draft = { -readonly [key in keyof Wire]: Wire[key] }

/** Gives every labelled wire its places; gradient labels choose first. */
export function placeLabels(
  wires: Wire[], boxes: readonly Rect[], headers: readonly Rect[], links: ReadonlyMap<string, LayoutLink>,
): void {
  const taken = new Grid()
  for (const box of boxes) taken.add(box)
  for (const header of headers) taken.add(header)
  for (const wire of wires) if (!wire.upward) for (const rect of cover(wire.knots)) taken.add(rect)
  const badges = new Grid()
  const labelled = wires.filter((wire) => wire.labelled && !wire.upward) as Draft[]
  for (const wire of labelled) {
    const { badge } = links.get(wire.links[0]!)!
    if (!badge) continue
    const [x, y] = middleOf(wire.knots)
    wire.badge = badgeAt({ ...badge, text: 0, x, y, bar: 0, side: 1, lift: 0 }, badge.text, [taken, badges])
    for (const rect of badgeRects(wire.badge)) {
      taken.add(rect)
      badges.add(rect)
    }
  }
  const dots = new Grid()
  const trunks = trunksOf(labelled)
  for (const wire of labelled) {
    const trunk = trunks.get(String(wire.knots[0])) ?? -Infinity
    wire.gradient = put(wire, links.get(wire.links[0]!)!.gradient, 1, taken, dots, [1, -1], trunk)
  }
  for (const wire of labelled) wire.forward = put(wire, links.get(wire.links[0]!)!.forward, -1, taken, dots)
}

const BARS = [44, 26]
/** Words beside a lane that runs level stand above or below it. */
const LIFTS = [0, 26, -26]

/** A cut's bar as long as there is room for, its words on the side that is free; rather fewer words than over a lane,
 *  rather over a lane than over another cut's words, and rather without words than that. */
function badgeAt(badge: Badge, texts: readonly number[], grids: readonly Grid[]): Badge {
  if (texts.length === 0) return badge
  for (const taken of grids) {
    for (const text of texts) {
      for (const lift of LIFTS) {
        for (const bar of BARS) {
          for (const side of [1, -1] as const) {
            const tried = { ...badge, text, bar, side, lift }
            const [, left, right, words] = badgeRects(tried)
            if (![words!, ...(lift === 0 ? [left!, right!] : [])].some((rect) => taken.hits(rect, MARGIN))) return tried
          }
        }
      }
    }
  }
  return { ...badge, w: badge.h }
}

/** How far down wires run together that leave one port. */
function trunksOf(wires: readonly Wire[]): ReadonlyMap<string, number> {
  const ends = new Map<string, number[]>()
  for (const { knots } of wires) {
    const bend = knots.findIndex(([x]) => x !== knots[0]![0])
    push(ends, String(knots[0]), bend < 0 ? Infinity : knots[bend - 1]![1])
  }
  return new Map([...ends].flatMap(([port, ys]) => (ys.length > 1 ? [[port, Math.min(...ys)] as const] : [])))
}

/** On its own side of the lanes; a number that has no room there stands on the other, rather than be a dot, but not
 *  where wires run together: it would be anyone's. */
function put(
  { knots, badge }: Wire, variants: readonly Size[], side: -1 | 1, taken: Grid, dots: Grid,
  sides: readonly number[] = [side], trunk = -Infinity,
): LabelPlace | null {
  if (variants.length === 0) return null
  const spots = [...spotsAlong(knots, side)]
  // beside the capsule, which stands in the middle of a short wire
  if (badge?.text === 0) {
    const { x, y, w, h } = badge
    spots.push({ x: x + side * (w / 2 - LANE - 4), top: y - h / 2, room: h, start: 0.5 })
  }
  const parted = spots.map((spot) => {
    const top = Math.max(spot.top, trunk)
    return { ...spot, top, room: spot.room - (top - spot.top) }
  })
  for (const beside of sides) {
    for (const [variant, size] of variants.entries()) {
      for (const spot of beside === side ? spots : parted) {
        if (size.h > spot.room + 2) continue
        for (const y of slides(spot, size.h)) {
          const x = beside > 0 ? spot.x + RIGHT_OF_LANE : spot.x - LEFT_OF_LANE - size.w
          const rect = { x, y, w: size.w, h: size.h }
          if (taken.hits(rect, MARGIN)) continue
          // its numbers and those of the next label would read as one
          taken.add({ ...rect, x: rect.x - APART, w: rect.w + 2 * APART })
          return { ...rect, variant }
        }
      }
    }
  }
  const away = badge ? badge.w / 2 + 4 : LANE + 4
  const dotAt = (x: number, y: number): LabelPlace =>
    ({ x: x + (side > 0 ? away : -away - DOT), y, w: DOT, h: DOT, variant: -1 })
  const [x, y] = middleOf(knots)
  const along = spots.flatMap((spot) => [...slides(spot, DOT)].map((y) => dotAt(spot.x, y)))
  const middle = dotAt(x, y - DOT / 2)
  const dot = [middle, ...along].find((place) => !dots.hits(place, MARGIN)) ?? middle
  dots.add(dot)
  return dot
}

interface Spot {
  x: number
  top: number
  room: number
  /** Where along the run to begin: 0 top, 0.5 middle, 1 bottom. */
  start: number
}

/** Vertical runs from longest to shortest, then the end of each curve where the lane leans away from the label. */
function spotsAlong(knots: readonly Knot[], side: -1 | 1): Spot[] {
  const runs: Spot[] = []
  const bends: Spot[] = []
  for (let at = 1; at < knots.length; at++) {
    const [ax, ay] = knots[at - 1]!
    const [bx, by] = knots[at]!
    if (ax === bx) runs.push({ x: ax, top: ay, room: by - ay, start: 0.5 })
    else if ((bx - ax) * side < 0) bends.push({ x: ax, top: ay + 6, room: by - ay - 6, start: 0 })
    else bends.push({ x: bx, top: ay, room: by - ay - 6, start: 1 })
  }
  return [...runs.sort((a, b) => b.room - a.room), ...bends.sort((a, b) => b.room - a.room)]
}

function* slides(spot: Spot, height: number): Generator<number> {
  const free = spot.room - height
  const begin = spot.top + Math.max(0, free) * spot.start + Math.min(0, free) / 2
  yield begin
  for (let slide = SLIDE; slide <= Math.max(0, free); slide += SLIDE) {
    if (begin + slide <= spot.top + free) yield begin + slide
    if (begin - slide >= spot.top) yield begin - slide
  }
}

const CELL = 96

/** Rectangles by the cells they touch. */
class Grid {
  private readonly cells = new Map<number, Rect[]>()

  add(rect: Rect): void {
    for (const key of keys(rect)) push(this.cells, key, rect)
  }

  hits(rect: Rect, margin: number): boolean {
    const wide = { x: rect.x - margin, y: rect.y - margin, w: rect.w + 2 * margin, h: rect.h + 2 * margin }
    for (const key of keys(wide)) {
      for (const other of this.cells.get(key) ?? []) {
        if (
          wide.x < other.x + other.w &&
          other.x < wide.x + wide.w &&
          wide.y < other.y + other.h &&
          other.y < wide.y + wide.h
        )
          return true
      }
    }
    return false
  }
}

function* keys(rect: Rect): Generator<number> {
  for (let y = Math.floor(rect.y / CELL); y <= Math.floor((rect.y + rect.h) / CELL); y++) {
    for (let x = Math.floor(rect.x / CELL); x <= Math.floor((rect.x + rect.w) / CELL); x++) yield y * 65536 + x
  }
}
