// What a call of the library does to fill the parameters of a layer, as `nn.Linear(4, 4)`: one thing, of many steps.

import { rangeOf } from './fix'
import type { TraceIndex } from './trace-index'

export interface Filling {
  /** Its first and last step. */
  first: number
  last: number
  code: string
  /** Parameters it fills. */
  n: number
}

/** The filling that a step belongs to; null for what the program does itself. */
export function fillingAt(index: TraceIndex, step: number): Filling | null {
  const code = callAt(index, step)
  if (code === null) return null
  const isSame = (at: number): boolean => placeOf(index, at) === placeOf(index, step) && callAt(index, at) !== null
  let [first, last] = [step, step]
  while (isSame(first - 1)) first -= 1
  while (isSame(last + 1)) last += 1
  const filled = new Set<string>()
  for (let at = first; at <= last; at += 1)
    for (const id of index.op(index.event(at)?.op)?.outputs ?? [])
      if (index.tensor(id)?.role === 'parameter') filled.add(index.identity(id))
  return filled.size > 0 ? { first, last, code, n: filled.size } : null
}

/** The call of the program inside which the library fills a parameter or a buffer at a step, or takes memory for one;
 *  null for what the program does itself. */
function callAt(index: TraceIndex, step: number): string | null {
  const op = index.op(index.event(step)?.op)
  if (!op?.span || op.module != null || op.inputs.length > (op.in_place ? 1 : 0)) return null
  const { from, to } = rangeOf(index.trace.program.code, op.span)
  const code = index.trace.program.code.slice(from, to)
  if (code.includes(op.name) || /_\(/.test(code) || op.function.includes('distributed')) return null
  return op.outputs.every((id) => isOfModule(index, id)) ? code : null
}

/** Whether a tensor is, or becomes, a parameter or a buffer, or is memory for one. */
function isOfModule(index: TraceIndex, id: string): boolean {
  const tensor = index.tensor(id)
  const states = index.trace.tensors.filter((other) => index.identity(other.id) === index.identity(id))
  const isBlank = tensor?.contents === 'uninitialised' && !tensor.names
  return isBlank || states.some(({ role }) => role === 'parameter' || role === 'buffer')
}

function placeOf(index: TraceIndex, step: number): string {
  return JSON.stringify(index.event(step)?.span)
}
