// The two lanes of a wire as SVG paths: offsets of one route that never swap sides.

import type { Knot, Rect } from './geometry'

/** Half the distance between the two lanes. */
export const LANE = 3.5
/** Steeper bends than this are S-curves, flatter ones a run with rounded corners. */
export const FLAT = 2.6
const CORNER = 9

/** Path of one lane: `side` −1 is the forward lane (left when going down), +1 the gradient lane, 0 the middle. */
export function lanePath(knots: readonly Knot[], upward: boolean, side: -1 | 0 | 1): string {
  const shift = side * LANE
  const [x0, y0] = knots[0]!
  if (upward) return upwardPath(knots, shift)
  let d = `M${n(x0 + shift)} ${n(y0)}`
  for (let at = 1; at < knots.length; at++) d += stretch(knots[at - 1]!, knots[at]!, shift)
  return d
}

/** From the consumer up to the producer, so that drawing it on follows the gradient. */
export function lanePathUp(knots: readonly Knot[], upward: boolean, side: -1 | 0 | 1): string {
  if (upward) return lanePath(knots, upward, side)
  const shift = side * LANE
  const last = knots.length - 1
  let d = `M${n(knots[last]![0] + shift)} ${n(knots[last]![1])}`
  for (let at = last; at > 0; at--) d += stretchUp(knots[at - 1]!, knots[at]!, shift)
  return d
}

function stretch([ax, ay]: Knot, [bx, by]: Knot, shift: number): string {
  if (ax === bx) return `V${n(by)}`
  const lean = Math.sign(bx - ax)
  const middle = (ay + by) / 2 - shift * lean
  if (Math.abs(bx - ax) <= FLAT * (by - ay))
    return `C${n(ax + shift)} ${n(middle)} ${n(bx + shift)} ${n(middle)} ${n(bx + shift)} ${n(by)}`
  const r = corner(ax, bx, ay, by, shift)
  return `V${n(middle - r)}Q${n(ax + shift)} ${n(middle)} ${n(ax + shift + lean * r)} ${n(middle)}H${n(bx + shift - lean * r)}Q${n(bx + shift)} ${n(middle)} ${n(bx + shift)} ${n(middle + r)}V${n(by)}`
}

function stretchUp([ax, ay]: Knot, [bx, by]: Knot, shift: number): string {
  if (ax === bx) return `V${n(ay)}`
  const lean = Math.sign(bx - ax)
  const middle = (ay + by) / 2 - shift * lean
  if (Math.abs(bx - ax) <= FLAT * (by - ay))
    return `C${n(bx + shift)} ${n(middle)} ${n(ax + shift)} ${n(middle)} ${n(ax + shift)} ${n(ay)}`
  const r = corner(ax, bx, ay, by, shift)
  return `V${n(middle + r)}Q${n(bx + shift)} ${n(middle)} ${n(bx + shift - lean * r)} ${n(middle)}H${n(ax + shift + lean * r)}Q${n(ax + shift)} ${n(middle)} ${n(ax + shift)} ${n(middle - r)}V${n(ay)}`
}

function corner(ax: number, bx: number, ay: number, by: number, shift: number): number {
  return Math.max(0, Math.min(CORNER, Math.abs(bx - ax) / 2, (by - ay) / 2 - Math.abs(shift)))
}

/** Where a consumer lies above its producer (a cycle between groups): out at the bottom, round, in at the top. */
function upwardPath(knots: readonly Knot[], shift: number): string {
  const [ax, ay] = knots[0]!
  const [bx, by] = knots[knots.length - 1]!
  return `M${n(ax + shift)} ${n(ay)}C${n(ax + shift)} ${n(ay + 70)} ${n(bx + shift)} ${n(by - 70)} ${n(bx + shift)} ${n(by)}`
}

/** Small rectangles that cover both lanes, for keeping labels off them. */
export function cover(knots: readonly Knot[]): Rect[] {
  const half = LANE + 1.5
  const rects: Rect[] = []
  for (let at = 1; at < knots.length; at++) {
    const [ax, ay] = knots[at - 1]!
    const [bx, by] = knots[at]!
    if (ax === bx) rects.push({ x: ax - half, y: Math.min(ay, by), w: 2 * half, h: Math.abs(by - ay) })
    else if (Math.abs(bx - ax) > FLAT * (by - ay)) {
      const middle = (ay + by) / 2
      rects.push(
        { x: ax - half, y: ay, w: 2 * half, h: middle - ay },
        { x: Math.min(ax, bx), y: middle - half, w: Math.abs(bx - ax), h: 2 * half },
        { x: bx - half, y: middle, w: 2 * half, h: by - middle },
      )
    } else for (let part = 0; part < 8; part++) rects.push(curvePart(ax, ay, bx, by, part / 8, (part + 1) / 8, half))
  }
  return rects
}

function curvePart(ax: number, ay: number, bx: number, by: number, from: number, to: number, half: number): Rect {
  const [x0, y0] = curvePoint(ax, ay, bx, by, from)
  const [x1, y1] = curvePoint(ax, ay, bx, by, to)
  return { x: Math.min(x0, x1) - half, y: Math.min(y0, y1), w: Math.abs(x1 - x0) + 2 * half, h: Math.abs(y1 - y0) }
}

/** Point of the S-curve from a to b, vertical at both ends. */
function curvePoint(ax: number, ay: number, bx: number, by: number, t: number): Knot {
  const u = 1 - t
  const [wa, wb] = [u * u * u + 3 * u * u * t, 3 * u * t * t + t * t * t]
  const middle = (ay + by) / 2
  return [wa * ax + wb * bx, u * u * u * ay + 3 * u * t * middle + t * t * t * by]
}

/** Middle of the tallest stretch. */
export function middleOf(knots: readonly Knot[]): Knot {
  let [ax, ay, bx, by] = [...knots[0]!, ...knots[0]!]
  for (let at = 1; at < knots.length; at++) {
    const [[cx, cy], [dx, dy]] = [knots[at - 1]!, knots[at]!]
    if (dy - cy > by - ay) [ax, ay, bx, by] = [cx, cy, dx, dy]
  }
  return [(ax + bx) / 2, (ay + by) / 2]
}

function n(value: number): string {
  return String(Math.round(value * 100) / 100)
}
