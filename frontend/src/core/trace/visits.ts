// The visits of a node, and which of them a step is about.

import type { Graph, Node } from '../../api/types'
import type { TraceIndex, VisitAt } from './trace-index'

/** The visit to tell of: the latest that has happened, or else the first that will. */
export function visitAt(index: TraceIndex, node: Node, step: number, passes: readonly string[]): VisitAt | undefined {
  const visits = (index.visitsOfNode.get(node.id) ?? []).filter(
    (visit) => passes.length === 0 || passes.includes(visit.pass.id),
  )
  return visits.findLast((visit) => visit.step <= step) ?? visits[0]
}

/** The visits of a node, in order, and the end of a pass that failed in it. */
export function usesOf(index: TraceIndex, node: Node): number[] {
  const visits = (index.visitsOfNode.get(node.id) ?? []).map((visit) => visit.step)
  const failures = index.trace.passes.flatMap((pass) => (pass.failed_node === node.id ? [index.passEnd(pass.id)] : []))
  return [...visits, ...failures].filter((step) => step > 0).sort((a, b) => a - b)
}

/** The step of which a leaf's `.grad` is told: once a pass runs that is not shown, that where the shown ones ended. */
export function stepOfGrads(index: TraceIndex, { passes = [] }: Pick<Graph, 'passes'>, step: number): number {
  const end = Math.max(...passes.map((pass) => index.passEnd(pass)))
  const isLater = (at: number): boolean => at > end && at <= step
  const isPast = index.trace.passes.some(({ id, visits }) => visits[0] && isLater(index.passStart(id)))
  return passes[0] && isPast ? end : step
}
