// The shapes of a graph seen from far away: few large ones instead of many small ones.

import type { Frame, Placed, Wire } from '../core/layout/geometry'
import type { Sheet } from '../core/layout/fold'
import type { Progress } from '../core/paint/moment'
import { lanePath } from '../core/layout/route'
import { times } from '../core/paint/measure'
import { cutEnd, cutName } from '../core/words/format'

/** One path per kind of wire. */
export function mergedWires(
  wires: readonly Wire[], arrived: (wire: Wire) => boolean,
): { forward: string; gradient: string } {
  let [forward, gradient] = ['', '']
  for (const wire of wires) {
    forward += lanePath(wire.knots, wire.upward, -1)
    if (arrived(wire)) gradient += lanePath(wire.knots, wire.upward, 1)
  }
  return { forward, gradient }
}

/** One path per progress, and one for the right halves that have their gradient. */
export function mergedBoxes(
  boxes: readonly Placed[], progressOf: (id: string) => Progress,
): { shape: Record<Progress, string>; reached: string } {
  const shape: Record<Progress, string> = { future: '', waiting: '', forward: '', current: '', visited: '' }
  let reached = ''
  for (const box of boxes) {
    const progress = progressOf(box.id)
    shape[progress] += `M${box.x} ${box.y}h${box.w}v${box.h}h${-box.w}z`
    if (progress === 'visited' || progress === 'current')
      reached += `M${box.x + box.w / 2} ${box.y}h${box.w / 2}v${box.h}h${-box.w / 2}z`
  }
  return { shape, reached }
}

export function mergedFrames(frames: readonly Frame[]): string {
  return frames.map((frame) => `M${frame.x} ${frame.y}h${frame.w}v${frame.h}h${-frame.w}z`).join('')
}

/** What a group, or the module that a box is, is called where nothing around it is named: a mere number leads with what
 *  it is one of, as `layer2.0`, or says it, as `1 for x`; one of many says how many. */
export function fullTitle({ groups, parents, moduleOf }: Sheet, id: string): string {
  const { title, type, kind, repeat = 1 } = groups.get(id) ?? moduleOf.get(id)!
  if (repeat > 1) return `${title} ${times(repeat)}`
  if (!/^\d+$/.test(title)) return title
  const around = groups.get(parents.get(id) ?? '')
  return kind === 'module' && around ? `${around.title}.${title}` : [title, type].filter(Boolean).join(' ')
}

/** A name cut to fit where all of a graph is seen: one of a list at its start, for those beside it begin alike. */
export function cutAlike(text: string, size: number, width: number): string {
  const mirrored = (text: string): string => [...text].reverse().join('')
  return /^\S+\]$/.test(text) ? mirrored(cutEnd(mirrored(text), size, width)) : cutName(text, size, width)
}
