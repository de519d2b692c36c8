// What a wire covers, and the header of an open group.

import type { Badge, Wire, Rect } from './geometry'

export const HEADER = 30

/** The badge's core, its bar on both sides, and the words beyond it. */
export function badgeRects({ x, y, w, h, text, bar, side, lift }: Badge): Rect[] {
  if (text === 0) return [{ x: x - w / 2, y: y - h / 2, w, h }]
  const core = { x: x - h / 2, y: y - h / 2, w: h, h }
  const arm = (at: number): Rect => ({ x: at, y: y - 2, w: bar - h / 2, h: 4 })
  return [
    core, arm(x - bar), arm(x + h / 2),
    { x: side > 0 ? x + bar + 6 : x - bar - 6 - text, y: y - 16 + lift, w: text, h: 34 },
  ]
}

/** With its labels and badge. */
export function extent(wire: Wire): Rect {
  const xs = wire.knots.map(([x]) => x)
  const ys = wire.knots.map(([, y]) => y)
  const rects = [wire.forward, wire.gradient, ...(wire.badge ? badgeRects(wire.badge) : [])].filter(
    (rect) => rect !== null,
  )
  const left = Math.min(...xs.map((x) => x - 8), ...rects.map((rect) => rect.x))
  const right = Math.max(...xs.map((x) => x + 8), ...rects.map((rect) => rect.x + rect.w))
  const top = Math.min(...ys, ...rects.map((rect) => rect.y))
  const bottom = Math.max(...ys, ...rects.map((rect) => rect.y + rect.h))
  return { x: left, y: top, w: right - left, h: bottom - top }
}
