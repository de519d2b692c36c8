// What of a graph is painted: the things near the window, and the marks each is made of.

import { extent } from '../core/layout/extent'
import type { Frame, Layout, Placed, Wire } from '../core/layout/geometry'
import type { Item } from '../core/paint/marks'
import type { Moment } from '../core/paint/moment'
import type { Painter } from '../core/paint/scene'
import type { View } from '../core/paint/view'
import { overlaps, windowOf, type Camera, type Viewport } from './camera'
import { detailFor } from './detail'

export interface Drawn {
  boxes: readonly Placed[]
  wires: readonly Wire[]
  frames: readonly Frame[]
  detail: ReturnType<typeof detailFor>
}

export interface Items {
  frames: readonly Item[]
  wires: readonly Item[]
  boxes: readonly Item[]
}

/** Screen pixels beyond the window that are drawn too, and those of them that panning may use up. */
const MARGIN = 200
const STRIDE = 160
/** What stands beside a box reaches out of it. */
const ASIDE = 60

/** The window, in steps, so that panning by a few pixels draws nothing new. */
export function windowKey(camera: Camera, viewport: Viewport): string {
  const seen = windowOf(camera, viewport, STRIDE)
  const grid = STRIDE / camera.zoom
  return [
    Math.floor(seen.x / grid), Math.floor(seen.y / grid), Math.ceil((seen.x + seen.w) / grid),
    Math.ceil((seen.y + seen.h) / grid), camera.zoom.toFixed(3),
  ].join(' ')
}

/** What stands in the window; the focused box is kept, so that the keyboard does not lose its place. */
export function drawnIn(layout: Layout, camera: Camera, viewport: Viewport, focused: string | null): Drawn {
  const seen = windowOf(camera, viewport, MARGIN)
  const around = { ...seen, x: seen.x - ASIDE, w: seen.w + 2 * ASIDE }
  const boxes = layout.boxes.filter((box) => overlaps(box, around) || box.id === focused)
  const wires = layout.wires.filter((wire) => overlaps(extent(wire), seen))
  const frames = layout.frames.filter((frame) => overlaps(frame, seen))
  return { boxes, wires, frames, detail: detailFor(camera.zoom, boxes.length, wires.length) }
}

/** The marks of all that is drawn in full. */
export function itemsOf(drawn: Drawn, view: View, painter: Painter, moment: Moment): Items {
  const { sheet } = view
  const ofBox = (place: Placed): Item => {
    const box = sheet.boxes.get(place.id)
    return box
      ? painter.box(place, box, moment)
      : painter.group(place, sheet.groups.get(place.id)!, moment)
  }
  const wires = drawn.wires.map((wire) => painter.wire(wire, wire.links.map((id) => view.link(id)!), moment))
  return {
    frames: drawn.frames.map((frame) => painter.frame(frame, sheet.groups.get(frame.id)!)),
    wires: [...wires, ...wires.flatMap(({ over }) => over ?? [])],
    boxes: drawn.boxes.map(ofBox),
  }
}
