// What a step of the timeline is about.

import type { Node, Op, Step } from '../../api/types'
import type { TraceIndex } from './trace-index'

/** The node a step concerns, for those that concern one. */
export function nodeOfStep(index: TraceIndex, step: Step | undefined): Node | undefined {
  if (!step) return undefined
  const hooked = step.hook ? index.hooks.get(step.hook)?.node : undefined
  if (hooked != null) return index.node(hooked)
  const pass = step.pass ? index.passes.get(step.pass) : undefined
  if (step.kind === 'op') {
    const nodes = index.op(step.op)?.nodes
    return nodes?.length ? index.node(nodes[nodes.length - 1]) : undefined
  }
  if (step.kind === 'seed') return index.node(pass?.roots[step.root ?? 0]?.node)
  if (step.kind === 'visit' || step.kind === 'sum' || step.kind === 'reduce' || step.kind === 'hook')
    return index.node(step.visit == null ? null : pass?.visits[step.visit]?.node)
  if (step.kind === 'accumulate')
    return index.node(step.accumulation == null ? null : pass?.accumulations[step.accumulation]?.node)
  if (step.kind === 'failure') return index.node(index.trace.failure?.node)
  return undefined
}

/** Whether a checkpoint stopped computing again at this op, which raised nothing of the program's. */
export function isEnough(index: TraceIndex, op: Op): boolean {
  return !!op.raised && op.rerun_of != null && index.trace.failure?.op !== op.id
}
