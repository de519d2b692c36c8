// Batches of a DataLoader: which samples of the dataset each one is made of.

import type { Batch, Op, Step, Trace } from '../../api/types'

export function batchAt(trace: Trace, step: Step | undefined): Batch | undefined {
  return step?.kind === 'batch' ? trace.batches?.[step.index ?? -1] : undefined
}

/** The batch that an op's result was handed out with. */
export function batchWith(trace: Trace, op: Op): Batch | undefined {
  return trace.batches?.find(({ tensors = [] }) => op.outputs.some((id) => tensors.includes(id)))
}

/** The batches of the same turn over the same loader, with what was dropped at its end. */
export function epochOf(trace: Trace, { loader, epoch, rank }: Batch): readonly Batch[] {
  return (trace.batches ?? []).filter((one) => one.loader === loader && one.epoch === epoch && one.rank === rank)
}

/** `4, 1`, and of many the first. */
export function samplesOf({ indices, count }: Batch, most: number): string {
  const few = indices.slice(0, count > most ? most - 1 : most)
  return `${few.join(', ')}${count > few.length ? ', …' : ''}`
}
