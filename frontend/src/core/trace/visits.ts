// Which of the visits of a node a step is about.

import type { Node } from '../../api/types'
import type { TraceIndex, VisitAt } from './trace-index'

/** The visit to tell of: the latest that has happened, or else the first that will. */
export function visitAt(index: TraceIndex, node: Node, step: number, passes: readonly string[]): VisitAt | undefined {
  const visits = (index.visitsOfNode.get(node.id) ?? []).filter(
    (visit) => passes.length === 0 || passes.includes(visit.pass.id),
  )
  return visits.findLast((visit) => visit.step <= step) ?? visits[0]
}
