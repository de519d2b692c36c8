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
  const rects = [wire.forward, wire.gradient, ...(wire.badge ? badgeRects(wire.badge) : [])]
  const knots = wire.knots.map(([x, y]) => ({ x: x - 8, y, w: 16, h: 0 }))
  return around([...knots, ...rects.filter((rect) => rect !== null)])
}

/** What covers all of them. */
export function around(rects: readonly Rect[]): Rect {
  const [x, y] = [Math.min(...rects.map((rect) => rect.x)), Math.min(...rects.map((rect) => rect.y))]
  const right = Math.max(...rects.map((rect) => rect.x + rect.w))
  const bottom = Math.max(...rects.map((rect) => rect.y + rect.h))
  return { x, y, w: right - x, h: bottom - y }
}
