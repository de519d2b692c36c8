// Buckets of gradients that ranks reduce together.

import type { Op, Tensor } from '../../api/types'
import type { TraceIndex } from './trace-index'

interface InBucket {
  parameter: Tensor
  /** Whether the pass added to its gradient. */
  ready: boolean
}

/** The parameters of a bucket in the order their gradients were ready; those the pass did not reach come last. */
export function readyFirst(index: TraceIndex, op: Op): InBucket[] {
  const pass = op.pass ? index.passes.get(op.pass) : undefined
  const order = (pass?.accumulations ?? []).map(({ tensor }) => index.identity(tensor))
  const place = (id: string): number => (order.includes(id) ? order.indexOf(id) : order.length)
  return [...(op.bucket ?? [])]
    .sort((a, b) => place(a) - place(b))
    .flatMap((id) => {
      const parameter = index.tensor(id)
      return parameter ? [{ parameter, ready: order.includes(id) }] : []
    })
}
