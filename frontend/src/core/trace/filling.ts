// What a call of the library does to fill the parameters of a layer, as `nn.Linear(4, 4)`: one thing, of many steps.

import type { Op } from '../../api/types'
import { codeAt } from './naming'
import type { TraceIndex } from './trace-index'

interface Filling {
  /** Its first and last step. */
  first: number
  last: number
  code: string
  /** Parameters it fills. */
  n: number
}

const known = new WeakMap<TraceIndex, readonly Filling[]>()

/** All of a run, in its order. */
export function fillingsOf(index: TraceIndex): readonly Filling[] {
  const found = known.get(index) ?? findFillings(index)
  known.set(index, found)
  return found
}

/** The filling that a step belongs to; null for what the program does itself. */
export function fillingAt(index: TraceIndex, step: number): Filling | null {
  return fillingsOf(index).find(({ first, last }) => first <= step && step <= last) ?? null
}

/** For each step its place on the timeline, counted from 1: a filling is one. */
export function placesOf(index: TraceIndex): readonly number[] {
  const inside = new Set(fillingsOf(index).flatMap(({ first, last }) =>
    Array.from({ length: last - first }, (_, at) => first + 1 + at)))
  let place = 0
  return [0, ...index.trace.timeline.map((_, at) => (inside.has(at + 1) ? place : (place += 1)))]
}

function findFillings(index: TraceIndex): Filling[] {
  const members = new Set(index.trace.tensors.flatMap(({ id, role }) =>
    role === 'parameter' || role === 'buffer' ? [index.identity(id)] : []))
  const found: (Filling & { place: string; filled: Set<string> })[] = []
  index.trace.timeline.forEach((event, at) => {
    const op = index.op(event.op)
    if (!op) return
    const code = codeOf(index, op, members)
    if (code === null) return
    const place = JSON.stringify(event.span)
    let now = found.at(-1)
    if (now?.last !== at || now.place !== place)
      found.push(now = { first: at + 1, last: at, code, n: 0, place, filled: new Set() })
    now.last = at + 1
    for (const id of op.outputs) if (index.tensor(id)?.role === 'parameter') now.filled.add(index.identity(id))
    now.n = now.filled.size
  })
  return found.filter(({ n }) => n > 0)
}

/** The call of the program inside which the library fills a parameter or a buffer, or takes memory for one; null for
 *  what the program does itself. */
function codeOf(index: TraceIndex, op: Op, members: ReadonlySet<string>): string | null {
  if (!op.span || op.module != null || op.inputs.length > (op.in_place ? 1 : 0)) return null
  const code = codeAt(index.trace.program.code, op.span, Infinity)
  if (code.includes(op.name) || /_\(/.test(code) || op.function.includes('distributed')) return null
  const isMembers = (id: string): boolean => {
    const tensor = index.tensor(id)
    return (tensor?.contents === 'uninitialised' && !tensor.names) || members.has(index.identity(id))
  }
  return op.outputs.every(isMembers) ? code : null
}
