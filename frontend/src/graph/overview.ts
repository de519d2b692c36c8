// The graph from far away: few large shapes instead of many small ones, so the page stays within its node budget.

import type { Frame, Placed, Wire } from '../core/layout'
import type { Progress } from '../core/moment'
import { lanePath } from '../core/route'

/** Nodes in the DOM a full drawing costs, measured on lesson and model graphs; erring high. */
const COST = { box: 26, wire: 9, frame: 5 }
const MOST_NODES = 1300
/** Below this zoom text is too small to read. */
const READABLE = 0.42

export type Detail = 'full' | 'plain' | 'map'

export function detailFor(zoom: number, boxes: number, wires: number, frames: number): Detail {
  if (zoom >= READABLE && boxes * COST.box + wires * COST.wire + frames * COST.frame <= MOST_NODES) return 'full'
  return boxes <= 300 && zoom >= 0.12 ? 'plain' : 'map'
}

/** One path per kind of wire. */
export function mergedWires(wires: readonly Wire[], arrived: (wire: Wire) => boolean): { forward: string; gradient: string } {
  let [forward, gradient] = ['', '']
  for (const wire of wires) {
    forward += lanePath(wire.knots, wire.upward, -1)
    if (arrived(wire)) gradient += lanePath(wire.knots, wire.upward, 1)
  }
  return { forward, gradient }
}

/** One path per progress, and one for the right halves that have their gradient. */
export function mergedBoxes(boxes: readonly Placed[], progressOf: (id: string) => Progress): { shape: Record<Progress, string>; reached: string } {
  const shape: Record<Progress, string> = { future: '', waiting: '', forward: '', current: '', visited: '' }
  let reached = ''
  for (const box of boxes) {
    const progress = progressOf(box.id)
    shape[progress] += `M${box.x} ${box.y}h${box.w}v${box.h}h${-box.w}z`
    if (progress === 'visited' || progress === 'current') reached += `M${box.x + box.w / 2} ${box.y}h${box.w / 2}v${box.h}h${-box.w / 2}z`
  }
  return { shape, reached }
}

export function mergedFrames(frames: readonly Frame[]): string {
  return frames.map((frame) => `M${frame.x} ${frame.y}h${frame.w}v${frame.h}h${-frame.w}z`).join('')
}
