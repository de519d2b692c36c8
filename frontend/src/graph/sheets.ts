// A graph on paper: all of it, turned where it is too wide to be read upright, cut between boxes where it is too large.

import type { Layout, Rect } from '../core/layout/geometry'
import type { Viewport } from './camera'

export interface Piece extends Rect {
  /** By a quarter: its left edge is at the foot of the sheet. */
  turned: boolean
}

/** Pixels that a sheet of A4 or Letter shows legibly: text of 11 is 5 points high then. */
const ACROSS = 1200
const ALONG = 1700
/** A frame that shows a graph smaller than this is filled better by pieces of it. */
const LEGIBLE = 0.5
/** What rings take around boxes. */
const EDGE = 10

type Span = readonly [from: number, to: number]

/** What is printed, in the order it is read; `frame` is the room in a page around, which is the same on paper. */
export function piecesOf({ boxes, wires, ...layout }: Layout, frame: Viewport | null): Piece[] {
  const [w, h] = [layout.width + 2 * EDGE, layout.height + 2 * EDGE]
  const turned = !frame && w > h && w > ACROSS
  const [widest, highest] = frame ? filling(w, h, frame) : turned ? [ALONG, ACROSS] : [ACROSS, ALONG]
  const whole = [...boxes, ...wires.flatMap((wire) => [wire.forward ?? [], wire.gradient ?? []].flat())]
  const columns = parts(layout.x - EDGE, w, widest, whole.map((rect) => [rect.x, rect.x + rect.w]))
  const rows = parts(layout.y - EDGE, h, highest, whole.map((rect) => [rect.y, rect.y + rect.h]))
  return columns.flatMap(([left, right]) =>
    rows.map(([top, bottom]) => ({ x: left, y: top, w: right - left, h: bottom - top, turned })),
  )
}

/** Sizes of pieces that fill a frame: beside each other where the graph is high, else on top of each other. */
function filling(w: number, h: number, { width, height }: Viewport): [number, number] {
  if (Math.min(width / w, height / h) >= LEGIBLE) return [w, h]
  const many = Math.sqrt((h * width) / (w * height))
  return [w / Math.max(1, Math.round(1 / many)), h / Math.max(1, Math.round(many))]
}

/** Even parts of a length, as nearly as nothing that must stay whole allows. */
function parts(from: number, size: number, most: number, whole: readonly Span[]): Span[] {
  const count = Math.ceil(size / most - 0.01)
  const free = count > 1
    ? whole.map(([, end]) => end + 2).filter((at) => !whole.some(([start, end]) => start < at && at < end))
    : []
  const ends = Array.from({ length: count }, (_, at) => {
    const even = from + (size * (at + 1)) / count
    return at + 1 < count ? free.reduce((near, other) => nearer(even, near, other), free[0] ?? even) : even
  })
  return ends.map((end, at) => [ends[at - 1] ?? from, end])
}

function nearer(to: number, one: number, other: number): number {
  return Math.abs(other - to) < Math.abs(one - to) ? other : one
}
