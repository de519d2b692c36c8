// What lies under a point of the graph.

import { HEADER } from '../core/layout/extent'
import type { Frame, Layout, Rect } from '../core/layout/geometry'
import { cover } from '../core/layout/route'

export type Hit =
  | { kind: 'box'; id: string }
  | { kind: 'frame'; id: string; onHeader: boolean }
  | { kind: 'wire'; id: string; links: readonly string[] }
  | null

const NEAR = 5

export function hitAt(layout: Layout, x: number, y: number): Hit {
  const box = layout.boxes.find(
    (place) => x >= place.x && x <= place.x + place.w && y >= place.y && y <= place.y + place.h,
  )
  if (box) return { kind: 'box', id: box.id }
  for (const wire of layout.wires) {
    if (y < wire.knots[0]![1] - NEAR || y > wire.knots[wire.knots.length - 1]![1] + NEAR) continue
    const labels = [wire.forward, wire.gradient].filter((place) => place !== null)
    if (
      [...cover(wire.knots), ...labels].some(
        (rect) => x >= rect.x - NEAR && x <= rect.x + rect.w + NEAR && y >= rect.y && y <= rect.y + rect.h,
      )
    )
      return { kind: 'wire', id: wire.id, links: wire.links }
  }
  const frame = frameAt(layout, x, y)
  return frame ? { kind: 'frame', id: frame.id, onHeader: y <= frame.y + HEADER } : null
}

/** The innermost open group around a point. */
function frameAt({ frames }: Layout, x: number, y: number): Frame | undefined {
  return frames.findLast((place) => x >= place.x && x <= place.x + place.w && y >= place.y && y <= place.y + place.h)
}

/** The innermost open group in which a window begins, or whose heading begins beside it. */
export function beginsIn(layout: Layout, { x, y, w, h }: Rect): Frame | undefined {
  const middle = x + w / 2
  const isCut = (frame: Frame) => frame.title_x < x || frame.title_x > x + w
  const isIn = (frame: Frame) =>
    frame.x <= middle && middle <= frame.x + frame.w && frame.y < y + h && y < frame.y + frame.h
  return frameAt(layout, middle, y) ?? layout.frames.findLast((frame) => isIn(frame) && isCut(frame))
}
