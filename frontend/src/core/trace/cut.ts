// A run as it was after some of its steps: nothing that happened later is in it, so nothing drawn from it can tell.

import type { Box, Graph, Trace } from '../../api/types'
import { History, stepOfWrite } from './history'
import { indexOf } from './trace-index'

const known = new WeakMap<Trace, { step: number; cut: Trace }>()

/** The trace after `step` steps, made once for a trace and step. */
export function cutTrace(trace: Trace, step: number): Trace {
  if (step >= trace.timeline.length) return trace
  const last = known.get(trace)
  if (last?.step === step) return last.cut
  const cut = made(trace, step)
  known.set(trace, { step, cut })
  return cut
}

function made(trace: Trace, step: number): Trace {
  const index = indexOf(trace)
  const history = new History(index)
  const stepOf = stepOfWrite(index)
  const timeline = trace.timeline.slice(0, step)
  const happened = new Set<string | null | undefined>(
    timeline.flatMap(({ op, pass, update, hook, call }) => [op, pass, update, hook, call].filter((id) => id != null)),
  )
  const isPast = ({ id }: { id: string }): boolean => happened.has(id)
  const ops = trace.ops.filter(isPast)
  const passes = trace.passes.filter(isPast)
  const updates = trace.updates.filter(isPast)
  const hooks = (trace.hooks ?? []).filter(isPast)
  const calls = (trace.calls ?? []).filter(isPast)
  const inputs = references([ops.map((op) => [op.inputs, op.outputs]), passes, updates, hooks, calls])
  const told = references([trace.ops.map((op) => [op.inputs, op.outputs]), trace.passes, trace.updates])
  const tensors = trace.tensors
    .filter(({ id }) => history.birth(id) <= step && (inputs.has(id) || !told.has(id)))
    .map(({ grad: _later, ...tensor }) => tensor)
  const left = new Set(tensors.map(({ id }) => id))
  const count = (kind: string): number => timeline.filter((event) => event.kind === kind).length
  return {
    ...trace,
    timeline, ops, passes, updates, hooks, calls, tensors,
    status: 'ok',
    failure: null,
    findings: [],
    nodes: trace.nodes.filter((node) => (node.op ? happened.has(node.op) : !node.variable || left.has(node.variable))
      && (!node.pass || happened.has(node.pass))),
    variables: history.variablesAt(step).flatMap(({ variable, tensor }) =>
      !tensor ? [variable] : left.has(tensor.id) ? [{ ...variable, tensor: tensor.id }] : []),
    output: trace.output.slice(0, count('output')),
    warnings: trace.warnings.slice(0, count('warning')),
    batches: (trace.batches ?? []).slice(0, count('batch')),
    transfers: trace.transfers?.filter(({ back }) => !back),
    gaps: (trace.gaps ?? []).slice(0, count('gap')),
    memory: trace.memory.filter((point) => point.step < step),
    curve: (trace.curve ?? []).filter(({ pass }) => happened.has(pass)),
    storages: (trace.storages ?? []).map((storage) => ({
      ...storage,
      tensors: storage.tensors.filter((id) => left.has(id)),
      writes: (storage.writes ?? []).filter((write) => (stepOf(write) ?? Infinity) <= step),
    })),
    checks: [],
    jacobians: [],
    surface: null,
    python_calls: [],
    walks: [],
    lines_not_run: [],
  }
}

/** Ids of tensors that records speak of. */
function references(records: unknown): Set<string> {
  return new Set(JSON.stringify(records).match(/\bt\d+(?=")/g))
}

/** The graph with only those boxes that were there after the steps of a cut trace. */
export function cutGraph(graph: Graph, cut: Trace): Graph {
  const index = indexOf(cut)
  const isThere = ({ node, op, tensor }: Box): boolean =>
    (!node || index.nodes.has(node)) && (!op || index.ops.has(op)) && (!tensor || index.tensors.has(tensor))
  // Whether an edge leads to a box from the root is known with the root alone.
  const boxes = graph.boxes.filter(isThere).map((box) => (box.reason === 'unreached' ? { ...box, reason: '' } : box))
  const left = new Set(boxes.map(({ id }) => id))
  const parents = new Map(graph.groups.map(({ id, parent }) => [id, parent]))
  const held = new Set<string>()
  for (const { group } of boxes)
    for (let at = group; at && !held.has(at); at = parents.get(at)) held.add(at)
  return {
    ...graph,
    boxes,
    links: graph.links.filter(({ source, target }) => left.has(source) && left.has(target)),
    groups: graph.groups.filter(({ id }) => held.has(id)),
    roots: graph.roots.filter(({ id }) => index.nodes.has(id)),
  }
}
