// A run whose reader is asked where a gradient flows: nothing in it tells what autograd recorded.

import type { Box, Graph, Trace } from '../../api/types'

const known = new WeakMap<Trace, Trace>()

/** The trace with every operation and every tensor alike, made once for a trace. */
export function unrecorded(trace: Trace): Trace {
  const made = known.get(trace) ?? {
    ...trace,
    nodes: [],
    ops: trace.ops.map((op) => ({ ...op, nodes: [] })),
    tensors: trace.tensors.map(({ grad_fn: _maker, ...tensor }) => ({ ...tensor, requires_grad: false })),
  }
  known.set(trace, made)
  return made
}

/** The graph of such a trace: no ghosts and no cuts. */
export function drawnUnrecorded(graph: Graph, { ops }: Trace): Graph {
  const names = new Map(ops.map(({ id, name }) => [id, name]))
  const alike = (box: Box): Box =>
    box.op
      ? { ...box, node: null, kind: 'op', family: 'op', title: names.get(box.op) ?? '', reason: '' }
      : { ...box, node: null }
  const stubs = new Set(graph.boxes.flatMap(({ id, op, kind }) => (kind === 'ghost' && !op ? [id] : [])))
  return {
    ...graph,
    boxes: graph.boxes.map(alike),
    links: graph.links.map(({ source, target, tensor, label }) => ({
      source, target, kind: stubs.has(source) ? 'ghost' : 'data', ...(tensor && { tensor }), ...(label && { label }),
    })),
    roots: [],
  }
}
