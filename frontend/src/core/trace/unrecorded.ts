// A run whose reader is asked where a gradient flows: nothing in it tells what autograd recorded, but for what an
// earlier pass has shown.

import type { Box, Graph, Trace } from '../../api/types'

const known = new WeakMap<Trace, Trace>()

/** The trace with every operation and every tensor alike where no pass has been, made once for a trace. */
export function unrecorded(trace: Trace): Trace {
  const made = known.get(trace) ?? alikeOf(trace)
  known.set(trace, made)
  return made
}

function alikeOf(trace: Trace): Trace {
  const seen = seenBy(trace)
  const nodes = trace.nodes.filter(({ id }) => seen.has(id))
  const leaves = new Set(nodes.map(({ variable }) => variable))
  return {
    ...trace,
    nodes,
    ops: trace.ops.map((op) => ({ ...op, nodes: op.nodes.filter((id) => seen.has(id)) })),
    tensors: trace.tensors.map(({ grad_fn: maker, ...tensor }) => {
      const isSeen = maker ? seen.has(maker.node) : leaves.has(tensor.id) || leaves.has(tensor.identity ?? '')
      return isSeen ? { ...tensor, ...(maker && { grad_fn: maker }) } : { ...tensor, requires_grad: false }
    }),
  }
}

/** Nodes of the graphs that passes have walked. */
function seenBy({ passes, nodes }: Trace): ReadonlySet<string> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const seen = new Set(passes.flatMap(({ visits }) => visits.map(({ node }) => node)))
  for (const id of seen) for (const { to } of byId.get(id)?.edges ?? []) if (to) seen.add(to)
  return seen
}

/** The graph of such a trace: no ghosts and no cuts where no pass has been. */
export function drawnUnrecorded(graph: Graph, { ops, nodes }: Trace): Graph {
  const seen = new Set(nodes.map(({ id }) => id))
  const isSeen = ({ node }: Box): boolean => node != null && seen.has(node)
  const kept = new Set(graph.boxes.filter(isSeen).map(({ id }) => id))
  const names = new Map(ops.map(({ id, name }) => [id, name]))
  const alike = (box: Box): Box =>
    box.op
      ? { ...box, node: null, kind: 'op', family: 'op', title: names.get(box.op) ?? '', reason: '' }
      : { ...box, node: null }
  const stubs = new Set(graph.boxes.flatMap(({ id, op, kind }) => (kind === 'ghost' && !op ? [id] : [])))
  return {
    ...graph,
    boxes: graph.boxes.map((box) => (isSeen(box) ? box : alike(box))),
    links: graph.links.map((link) => {
      const { source, target, tensor, label } = link
      if (kept.has(source) && kept.has(target)) return link
      const kind = stubs.has(source) ? 'ghost' : 'data'
      return { source, target, kind, ...(tensor && { tensor }), ...(label && { label }) }
    }),
    roots: graph.roots.filter(({ id }) => seen.has(id)),
  }
}
