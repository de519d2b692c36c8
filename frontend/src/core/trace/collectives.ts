// Meetings of ranks: what each of them gave and got.

import type { Op, Tensor } from '../../api/types'
import type { TraceIndex } from './trace-index'

export interface Exchanged {
  op: Op
  gave: readonly Tensor[]
  got: readonly Tensor[]
}

const REDUCES_IN_PLACE: ReadonlySet<string> = new Set(['all_reduce', 'reduce'])

/** Of one rank; what was only written into it did not give. */
export function exchangedBy(index: TraceIndex, op: Op): Exchanged {
  const written = new Set(op.outputs.map((id) => index.identity(id)))
  const gave = REDUCES_IN_PLACE.has(op.name) ? op.inputs : op.inputs.filter((id) => !written.has(index.identity(id)))
  const tensors = (ids: readonly string[]): Tensor[] => ids.flatMap((id) => index.tensor(id) ?? [])
  return { op, gave: tensors(gave), got: tensors(op.outputs) }
}

/** Of all ranks that met in the collective of an op, by rank. */
export function exchangedIn(index: TraceIndex, { collective }: Op): Exchanged[] {
  return index.trace.ops
    .filter((op) => op.collective === collective)
    .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
    .map((op) => exchangedBy(index, op))
}
