// The timeline as marks on a line: forward below it, backward above it.

import type { Step } from '../../api/types'
import type { TraceIndex } from './trace-index'
import { isEnough } from './steps'

export interface TimelineMark {
  step: number
  shape: Shape
  /** Above the line is backward, below it forward. */
  above: boolean
  label: string
  x: number
}

const shapes: Record<Step['kind'], Shape> = {
  op: 'op',
  pass: 'call',
  seed: 'seed',
  visit: 'visit',
  sum: 'sum',
  reduce: 'reduce',
  hook: 'hook',
  accumulate: 'accumulate',
  pass_end: 'call',
  call: 'enter',
  call_end: 'leave',
  update: 'update',
  reset: 'update',
  batch: 'batch',
  output: 'output',
  warning: 'warning',
  failure: 'failure',
  gap: 'gap',
}

/** How a mark is drawn: a path, and a circle with it. */
interface Sign {
  d: string
  look: '' | 'stroke' | 'plus' | 'cross'
  /** Radius and middle of the circle. */
  r?: number
  y?: number
}

const sign = (d: string, look: Sign['look'] = '', r?: number, y?: number): Sign => ({ d, look, r, y })
const down = sign('M-4.5 -3.5H4.5L0 4Z')
const sum = sign('M-2.8 0H2.8M0 -2.8V2.8', 'plus', 5.8)

export const signs = {
  op: down,
  ghost: down,
  visit: sign('M-5 4.5H5L0 -4.5Z'),
  seed: sign('M0 5V-1', '', 3, -2.5),
  sum,
  accumulate: sum,
  reduce: sign('M-1.5 -4h3a4 4 0 0 1 0 8h-3a4 4 0 0 1 0 -8Z'),
  hook: sign('M1.5 -5V1a3 3 0 0 1 -6 0V0.2', 'stroke'),
  enter: sign('M2 -4H-1.5V4H2', 'stroke'),
  leave: sign('M-2 -4H1.5V4H-2', 'stroke'),
  update: sign('M0 -4.5 4.5 0 0 4.5 -4.5 0Z'),
  batch: sign('M-4.5 -1.5h6v6h-6ZM-1.5 -4.5h6v6'),
  output: sign('M-3.5 -3.5h7v7h-7Z'),
  failure: sign('M-3.5 -3.5 3.5 3.5M3.5 -3.5 -3.5 3.5', 'cross'),
  gap: sign('M-4.5 2.5 -1.5 -2.5 1.5 2.5 4.5 -2.5', 'stroke'),
  warning: sign('M-4.5 4 0 -4 4.5 4Z'),
  call: sign('M0 -3V3'),
} satisfies Record<string, Sign>

export type Shape = keyof typeof signs

function shapeOf(index: TraceIndex, step: Step): Shape {
  if (step.kind !== 'op') return shapes[step.kind]
  const op = index.op(step.op)
  if (op?.raised && !isEnough(index, op)) return 'failure'
  return op && op.nodes.length === 0 && op.inputs.some((id) => index.tensor(id)?.requires_grad) ? 'ghost' : 'op'
}

/** Backward stands on the line; a hook stands there when it fired in a pass. */
export function isAbove({ kind, pass }: Step): boolean {
  return (
    kind === 'seed' ||
    kind === 'visit' ||
    kind === 'sum' ||
    kind === 'reduce' ||
    (kind === 'hook' && pass != null) ||
    kind === 'accumulate'
  )
}

/** Where steps stand between two ends: apart, or at places counted from 1. */
export class Track {
  readonly total: number
  /** Room for each place. */
  readonly pitch: number

  constructor(
    { trace }: TraceIndex, readonly left: number, readonly right: number,
    readonly places: readonly number[] = [...Array(trace.timeline.length + 1).keys()],
  ) {
    this.total = places.at(-1)!
    this.pitch = (right - left) / Math.max(1, this.total - 1)
  }

  /** A step that is not there yet stands at the end. */
  at(step: number): number {
    const place = this.places[step] ?? this.total
    return this.total === 1 && step > 0 ? this.right : this.left + this.pitch * (place - 1)
  }

  /** The step nearest to an x; none left of all of them. */
  near(x: number): number {
    return this.from(0, x < this.left - 6 ? 0 : Math.round((x - this.left) / this.pitch + 1))
  }

  /** The step so many places on. */
  from(step: number, by: number): number {
    return this.places.lastIndexOf(Math.max(0, Math.min(this.total, this.places[step]! + by)))
  }
}

/** All marks, without names. Too many to tell apart: none, and the ticks say where they are. */
export function marksOf(index: TraceIndex, track: Track): TimelineMark[] {
  if (track.pitch < 8) return []
  return index.trace.timeline.flatMap((event, at) =>
    track.places[at + 1] === track.places[at + 2]
      ? []
      : { step: at + 1, shape: shapeOf(index, event), above: isAbove(event), label: '', x: track.at(at + 1) },
  )
}

/** Ticks for a timeline too long for marks: at most one a pixel on each side, as one path. */
export function ticks(index: TraceIndex, track: Track, above: boolean, y: number): string {
  const { timeline } = index.trace
  const seen = new Set<number>()
  let path = ''
  timeline.forEach((event, at) => {
    if (
      isAbove(event) !== above ||
      event.kind === 'pass' ||
      event.kind === 'pass_end' ||
      event.kind === 'call' ||
      event.kind === 'call_end'
    )
      return
    const x = Math.round(track.at(at + 1) / 2) * 2
    if (seen.has(x)) return
    seen.add(x)
    path += `M${x} ${y}v6`
  })
  return path
}
