// Meetings of ranks: what each of them gave and got.

import type { Box, Link, Op, Tensor } from '../../api/types'
import type { TraceIndex } from './trace-index'

export interface Exchanged {
  op: Op
  gave: readonly Tensor[]
  got: readonly Tensor[]
}

const TOLD = 3

/** What a rank gave, or got, for a sentence; of many tensors the first. */
export function listed(tensors: readonly Tensor[], say: (tensor: Tensor) => string, and = ', '): string {
  const few = tensors.slice(0, TOLD).map(say)
  return [...few, ...(tensors.length > TOLD ? [`… (${tensors.length})`] : [])].join(and) || '·'
}

/** Of one rank. */
export function exchangedBy(index: TraceIndex, op: Op): Exchanged {
  const tensors = (ids: readonly string[] = []): Tensor[] => ids.flatMap((id) => index.tensor(id) ?? [])
  return { op, gave: tensors(op.gave), got: tensors(op.outputs) }
}

/** Of all ranks that met in the collective of an op, by rank. */
export function exchangedIn(index: TraceIndex, { collective }: Op): Exchanged[] {
  return index.trace.ops
    .filter((op) => op.collective === collective)
    .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
    .map((op) => exchangedBy(index, op))
}

/** Those of ranks that have come that far by a step. */
export function metBy(index: TraceIndex, exchanged: readonly Exchanged[], step: number): Exchanged[] {
  return exchanged.filter(({ op: { id } }) => (index.stepOfOp.get(id) ?? 0) <= step)
}

/** What each rank gave and got in the collective of a box. */
export function exchangesOf(index: TraceIndex, box: Box): Exchanged[] {
  return (box.ops ?? []).flatMap((id) => {
    const op = index.op(id)
    return op ? [exchangedBy(index, op)] : []
  })
}

/** Whether what goes up a link is a gradient, and not the value of the leaf below. */
export function isGradient(link: Link, target: Box | undefined): boolean {
  const values = [target?.tensor, ...(target?.parameters ?? []).map(({ tensor }) => tensor)]
  return link.kind === 'exchange' && link.back != null && !values.includes(link.back)
}
