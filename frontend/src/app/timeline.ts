// The timeline as marks on a line: forward below it, backward above it.

import type { Step } from '../api/types'
import { textWidth } from '../core/format'
import type { TraceIndex } from '../core/trace'
import type { Words } from '../core/sentences'
import { isEnough, markLabel } from './story'

export type Shape = 'op' | 'ghost' | 'seed' | 'visit' | 'sum' | 'reduce' | 'accumulate' | 'hook' | 'enter' | 'leave' | 'update' | 'output' | 'failure' | 'warning' | 'call' | 'gap'

export interface TimelineMark {
  step: number
  shape: Shape
  /** Above the line is backward, below it forward. */
  above: boolean
  label: string
  x: number
}

export interface Band {
  text: string
  from: number
  to: number
  above: boolean
}

const LABEL_SIZE = 10
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
  output: 'output',
  warning: 'warning',
  failure: 'failure',
  gap: 'gap',
}

function shapeOf(index: TraceIndex, step: Step): Shape {
  if (step.kind !== 'op') return shapes[step.kind]
  const op = index.op(step.op)
  if (op?.raised && !isEnough(index, op)) return 'failure'
  return op && op.nodes.length === 0 && op.inputs.some((id) => index.tensor(id)?.requires_grad) ? 'ghost' : 'op'
}

/** Backward stands on the line; a hook stands there when it fired in a pass. */
function isAbove({ kind, pass }: Step): boolean {
  return kind === 'seed' || kind === 'visit' || kind === 'sum' || kind === 'reduce' || (kind === 'hook' && pass != null) || kind === 'accumulate'
}

/** Where a step stands between `left` and `right`. */
export function place(step: number, total: number, left: number, right: number): number {
  return total <= 1 ? (step === 0 ? left : right) : left + ((right - left) * (step - 1)) / (total - 1)
}

/** All marks, each with a label where there is room for it. Too many to tell apart: none, and the ticks say where they are. */
export function marksOf(index: TraceIndex, left: number, right: number, labels: boolean, t: Words): TimelineMark[] {
  const { timeline } = index.trace
  const total = timeline.length
  if ((right - left) / Math.max(1, total) < 8) return []
  const free = { above: -Infinity, below: -Infinity }
  return timeline.map((event, at) => {
    const x = place(at + 1, total, left, right)
    const above = isAbove(event)
    const side = above ? 'above' : 'below'
    const text = labels ? markLabel(index, event, t) : ''
    const width = textWidth(text, LABEL_SIZE)
    const next = nextOnSide(timeline, at, above, total, left, right)
    const fits = text !== '' && x + 8 >= free[side] && x + 10 + width <= Math.max(next - 7, 0)
    const flips = !fits && text !== '' && at === total - 1 && x - 10 - width >= free[side]
    free[side] = Math.max(free[side], fits ? x + 12 + width : x + 8)
    return { step: at + 1, shape: shapeOf(index, event), above, label: fits || flips ? text : '', x }
  })
}

function nextOnSide(timeline: readonly Step[], at: number, above: boolean, total: number, left: number, right: number): number {
  for (let later = at + 1; later < timeline.length; later += 1) {
    const event = timeline[later]
    if (event && isAbove(event) === above) return place(later + 1, total, left, right)
  }
  return right + 40
}

/** Ticks for a timeline too long for marks: at most one a pixel on each side, as one path. */
export function ticks(index: TraceIndex, left: number, right: number, above: boolean, y: number): string {
  const { timeline } = index.trace
  const seen = new Set<number>()
  let path = ''
  timeline.forEach((event, at) => {
    if (isAbove(event) !== above || event.kind === 'pass' || event.kind === 'pass_end' || event.kind === 'call' || event.kind === 'call_end') return
    const x = Math.round(place(at + 1, timeline.length, left, right) / 2) * 2
    if (seen.has(x)) return
    seen.add(x)
    path += `M${x} ${y}v6`
  })
  return path
}

/** Which top part of the model the ticks belong to, as brackets: `blocks.0`, `head`. */
export function bands(index: TraceIndex, left: number, right: number): Band[] {
  const { timeline, modules } = index.trace
  const paths = new Map(modules.map((module) => [module.id, module.path]))
  const roots = modules.filter((module) => module.parent == null).length
  const found: Band[] = []
  let open: { text: string; first: number; last: number; above: boolean } | null = null
  const close = (): void => {
    if (open && open.text) {
      const from = place(open.first, timeline.length, left, right)
      const to = place(open.last, timeline.length, left, right)
      const last = open.text.slice(open.text.lastIndexOf('.') + 1)
      const text = [open.text, last].find((one) => to - from > textWidth(one, 9.5) + 6)
      if (text) found.push({ text, from, to, above: open.above })
    }
    open = null
  }
  timeline.forEach((event, at) => {
    if (event.kind !== 'op' && event.kind !== 'visit') return
    const pass = event.pass ? index.passes.get(event.pass) : undefined
    const node = event.kind === 'visit' ? index.node(pass?.visits[event.visit ?? 0]?.node) : undefined
    const op = index.op(event.kind === 'op' ? event.op : node?.op)
    if (event.kind === 'visit' && !op) return
    const text = part(paths.get(op?.module ?? '') ?? '', roots === 1)
    const above = event.kind === 'visit'
    if (open && open.text === text && open.above === above) open.last = at + 1
    else {
      close()
      open = { text, first: at + 1, last: at + 1, above }
    }
  })
  close()
  return found
}

/** `model.blocks.0.attn` → `blocks.0`; with several models side by side, the model's own name stays. */
function part(path: string, onlyRoot: boolean): string {
  const pieces = path.split('.').slice(onlyRoot ? 1 : 0)
  return /^\d+$/.test(pieces[1] ?? '') ? `${pieces[0]}.${pieces[1]}` : (pieces[0] ?? '')
}
