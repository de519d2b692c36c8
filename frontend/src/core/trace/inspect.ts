// What the inspector says of a box at a step: what arrived, what left, what was saved, and one plain sentence.

import type { Argument, Box, Edge, Graph, HookCall, Node, Op, Reduction, Saved, Sum, Tensor } from '../../api/types'
import { push, type TraceIndex, type VisitAt } from './trace-index'
import type { Words } from '../words/sentences'
import { codeAt, codeOf, edgeName, nameOf, tensorName } from './naming'
import { isOwnName } from './own-name'
import said from './said.json'
import { signed } from './saved-numbers'
import { usesOf } from './visits'

/** As `tensorName`, for its shape to be written behind it. */
export function shapedName(index: TraceIndex, tensor: Tensor): string {
  return nameOf(index, tensor) || nameOf(index, index.tensor(tensor.base)) || tensor.dtype
}

/** The names of others in the memory of a tensor; the old `x` of `x = x.view(6)` is none. */
export function sharing(index: TraceIndex, tensor: Tensor): string[] {
  const [own, name] = [index.identity(tensor.id), nameOf(index, tensor)]
  const others = index.trace.tensors.filter(
    ({ id, storage, names }) =>
      storage && storage === tensor.storage && names?.length && names[0] !== name && index.identity(id) !== own,
  )
  return [...new Set(others.map(({ names }) => names![0]!))]
}

interface Arrival {
  inputNr: number
  tensor: Tensor | undefined
  sum: Sum | undefined
  sumStep: number
  /** Node that sent it, or null for the seed of a pass. */
  from: Node | null
}

export function arrivals(index: TraceIndex, at: VisitAt): Arrival[] {
  return at.visit.entered.map((id, inputNr) => ({
    inputNr,
    tensor: index.tensor(id),
    sum: at.visit.sums?.find((sum) => sum.input_nr === inputNr),
    sumStep: index.sumStep(at.pass.id, at.index, inputNr),
    from: senderOf(index, at, inputNr),
  }))
}

/** The first to send there in its pass. */
function senderOf(index: TraceIndex, { pass, visit }: VisitAt, inputNr: number): Node | null {
  const edges = index.edgesInto(visit.node).filter(({ node, slot }) => node.edges[slot]!.input_nr === inputNr)
  let first: { node: Node; index: number } | null = null
  for (const { node, slot } of edges)
    for (const sent of index.visitsOfNode.get(node.id) ?? [])
      if (sent.pass === pass && sent.visit.left[slot] != null && sent.index < (first?.index ?? Infinity))
        first = { node, index: sent.index }
  return first?.node ?? null
}

interface Departure {
  slot: number
  edge: Edge
  to: Node | undefined
  tensor: Tensor | undefined
  /** The sum it went into. */
  sum: Sum | undefined
  sumStep: number
  /** The sum over broadcast axes it went through before it left. */
  reduction: Reduction | undefined
}

export function departures(index: TraceIndex, node: Node, at: VisitAt | undefined): Departure[] {
  return node.edges.map((edge, slot) => {
    const next = at?.pass.visits.findIndex((visit, number) => number > at.index && visit.node === edge.to) ?? -1
    const sum = at?.pass.visits[next]?.sums?.find((sum) => sum.input_nr === edge.input_nr && sum.terms.length > 1)
    return {
      slot,
      edge,
      to: index.node(edge.to),
      tensor: index.tensor(at?.visit.left[slot]),
      sum,
      reduction: at?.visit.reduced?.find((reduced) => reduced.slot === slot),
      sumStep: at && sum ? index.sumStep(at.pass.id, next, edge.input_nr) : 0,
    }
  })
}

/** How many slots lead to the same input of the same node: `y * y` sends two gradients to y. */
function sameTwice(node: Node): { edge: Edge; n: number } | null {
  const counts = new Map<string, { edge: Edge; n: number }>()
  for (const edge of node.edges) {
    if (!edge.to) continue
    const key = `${edge.to} ${edge.input_nr}`
    const known = counts.get(key)
    if (known) known.n += 1
    else counts.set(key, { edge, n: 1 })
  }
  return [...counts.values()].find((counted) => counted.n > 1) ?? null
}

/** What is said of each node type that has a sentence and no rule. */
const SAID = new Map(Object.entries(said).flatMap(([key, types]) => types.map((type) => [type, `say.${key}`])))

function ghostSentence(index: TraceIndex, box: Box, t: Words): string {
  if (box.reason === 'unused') return t('say.ghost.unused')
  const made = index.tensor(box.tensor)
  if (made?.requires_grad && made.is_leaf !== false) return t('say.leaf', { name: box.name || box.title })
  const tracked = index.op(box.op)?.inputs.some((id) => index.tensor(id)?.requires_grad) ?? false
  const guess = made?.grad_fn ? 'unreached' : tracked ? 'untracked' : 'constant'
  const reason = box.reason && box.reason !== 'untracked' ? box.reason : guess
  return t(t.has(`say.ghost.${reason}`) ? `say.ghost.${reason}` : 'say.ghost.untracked')
}

/** Beside a module with a full backward hook; a custom Function only by its making. */
const BACKWARD_HOOK = 'BackwardHookFunctionBackward'

/** What heads a box: what the program calls it or the module that it is all of, then its type; or its type, then the
 *  code that made it. */
export function headOf(index: TraceIndex, graph: Graph, box: Box): { title: string; second: string } {
  const name = box.name || box.title
  if (box.kind === 'leaf' || box.reason === 'unused') return { title: name, second: '' }
  if (box.kind !== 'op') return { title: box.title, second: box.name }
  const group = graph.groups.find(({ id }) => id === box.group)
  const isAll =
    group !== undefined &&
    graph.boxes.every((other) => other === box || other.group !== group.id) &&
    graph.groups.every(({ parent }) => parent !== group.id)
  const path = (isAll && index.modules.get(group.module ?? '')?.path) || (isOwnName(name) ? name : '')
  return path && path !== box.title ? { title: path, second: box.title } : { title: box.title, second: box.name }
}

/** The op that made a leaf on the way inside a call, as `torch.func.grad` does; no parameter of a module. */
export function callAround(index: TraceIndex, leaf: Tensor | undefined): Op | undefined {
  if (leaf?.role !== 'leaf') return undefined
  const identity = index.identity(leaf.id)
  return index.trace.ops.find((op) => op.inside && op.outputs.some((id) => index.identity(id) === identity))
}

/** Whether all passes that come to a sink only hand on what arrives. */
function isAskedOf({ trace: { passes } }: TraceIndex, sink: string): boolean {
  return (
    passes.some((pass) => pass.input_nodes?.some((at) => at?.node === sink)) &&
    passes.every((pass) => pass.accumulations.every(({ node }) => node !== sink))
  )
}

/** One sentence in plain words. The rule's own sentence is used when there is one. */
export function sentence(index: TraceIndex, box: Box, ruleWords: string | null, t: Words): string {
  const name = box.name || box.title
  if (box.kind === 'ghost') return ghostSentence(index, box, t)
  if (box.kind === 'collective') {
    const how = t(`collective.${name}`)
    const isTold = t.has(`say.collective.${name}`)
    return isTold ? t(`say.collective.${name}`, { name: box.title }) : t('say.collective', { name: box.title, how })
  }
  if (box.kind === 'leaf') {
    const tensor = index.tensor(box.tensor)
    const call = callAround(index, tensor)
    if (call && box.node) {
      const code = codeAt(index.trace.program.code, call.span)
      return t(isAskedOf(index, box.node) ? 'say.leaf_asked' : 'say.leaf_inside', { code })
    }
    const computed =
      tensor?.role === 'leaf' &&
      index.trace.ops.some(
        (op) =>
          op.inputs.length > 0 &&
          !op.in_place &&
          op.name !== 'requires_grad_' &&
          !op.arguments.some((given) => given.name === 'requires_grad') &&
          op.outputs.includes(index.identity(tensor.id)),
      )
    return t(
      !box.node
        ? 'say.leaf_plain'
        : tensor?.role === 'parameter'
          ? 'say.parameter'
          : computed
            ? 'say.leaf_turned'
            : 'say.leaf',
      { name },
    )
  }
  const node = index.node(box.node)
  const twice = node ? sameTwice(node) : null
  if (twice) return t('say.same_twice', { name: edgeName(index, twice.edge), n: twice.n })
  if (node?.type === 'CopySlices') return t('say.copy_slices', { name })
  if (node?.type === BACKWARD_HOOK) return t('say.backward_hook')
  if (node?.custom) return t('say.custom')
  if (ruleWords) return ruleWords
  const read = index.op(box.op)?.inputs.map((id) => index.tensor(id)) ?? []
  if ([...(node?.outputs ?? []), ...read].some((of) => of?.dtype.startsWith('complex'))) return t('say.complex')
  const op = index.op(box.op)
  const { length: n } = op?.nodes ?? []
  // What one of several nodes made on the way has no name, and the call gave something else.
  if (op && !box.tensor && n > 1 && !SAID.has(node?.type ?? '')) return t('say.op_part', { name: codeOf(index, op), n })
  return t(SAID.get(node?.type ?? '') ?? 'say.op', { name })
}

/** Ops that copy only when they must. */
const COPIES_IF_NEEDED: ReadonlySet<string> = new Set(['reshape', 'contiguous', 'flatten', 'reshape_as'])

/** Whether an op had to copy, and why; nothing for ops that always or never do. */
export function copySentence(index: TraceIndex, box: Box, t: Words): string {
  const op = index.op(box.op)
  const before = index.tensor(op?.inputs[0])
  const after = index.tensor(op?.outputs[0])
  if (!op || !COPIES_IF_NEEDED.has(op.name) || before?.storage == null || after?.storage == null) return ''
  const name = tensorName(index, before)
  return before.storage === after.storage
    ? t('say.not_copied', { name })
    : t('say.copied', { name, strides: `(${(before.strides ?? []).join(', ')})` })
}

/** What stands between the brackets of `x[i] = y`, in the order Python gives it. */
const INDEXING: readonly string[] = ['panel.tensor', 'inspect.index', 'inspect.value']

/** Why nothing is known of what a node's op gave: it is none of the results of an op that was recorded, or of what a
 *  pass made, or that op was left out. */
export function withoutValue({ trace, ops }: TraceIndex, { op, made_by, pass }: Node, t: Words): string {
  if (ops.has(op ?? '') || made_by || pass) return t('inspect.no_value')
  const [cut, ...others] = trace.truncated.filter(({ what }) => what === 'ops')
  return cut && others.length === 0
    ? t('inspect.value_omitted', { kept: cut.kept, sample: Number(cut.limit === 'sample') })
    : t('inspect.value_unrecorded')
}

/** What an op was given besides its inputs; of an index all of it, each named by what it is. */
export function argumentRows({ name, arguments: given }: Op, t: Words): (Argument & { label: string })[] {
  if (isIndexing(name)) return given.map((argument, at) => ({ ...argument, label: t(INDEXING[at] ?? '') }))
  return given.filter(({ text }) => text != null).map((argument, at) => ({
    ...argument, label: argument.name || String(at),
  }))
}

export function isIndexing(name: string): boolean {
  return name === 'getitem' || name === 'setitem'
}

interface SavedLine {
  saved: Saved
  tensor: Tensor | undefined
  name: string
  /** Version the tensor object has at the step, or had when it was last used. */
  now: number | null
  /** A pass uses it, or refused to, though it is another version. */
  isStale: boolean
  sharesWith: string | null
}

/** What is said of saved tensors that are not kept as they were. */
const NOT_KEPT: Readonly<Record<string, string>> = {
  kept_by_hooks: 'inspect.kept_by_hooks',
  kept_unseen: 'inspect.kept_unseen',
  recomputed: 'inspect.recomputed',
}
/** What stands for a saved value that is no tensor, or for a tensor that was not kept. */
export function savedText({ text, reason = '' }: Saved, t: Words): string {
  if (text != null) return signed(text).replace(/(^|[(, ])-(?=\d)/g, '$1−')
  return (NOT_KEPT[reason!] ? t(NOT_KEPT[reason!]!) : reason) ?? ''
}

/** What a node keeps for backward. Two fields that keep the same memory say so. */
export function savedLines(
  index: TraceIndex, node: Node, stateAt: (tensor: string, step: number) => Tensor | undefined, step: number,
): SavedLine[] {
  const used = usesOf(index, node).at(-1)
  const seen = new Map<string, string>()
  return (node.saved ?? []).map((saved) => {
    const tensor = index.tensor(saved.tensor)
    const storage = tensor?.storage ?? null
    const sharesWith = storage ? (seen.get(storage) ?? null) : null
    if (storage && !seen.has(storage)) seen.set(storage, saved.field)
    const now = tensor ? (stateAt(tensor.id, Math.min(step, used ?? step))?.version ?? 0) : null
    const isStale = used !== undefined && now !== null && now !== (saved.version ?? 0)
    return { saved, tensor, name: nameOf(index, tensor), now, isStale, sharesWith }
  })
}

/** Hooks that fired on a node, or on the leaf whose sink it is. */
export function hooksOf(index: TraceIndex, node: Node, passes: readonly string[]): HookCall[] {
  const leaf = node.variable ? index.identity(node.variable) : null
  return (index.trace.hooks ?? []).filter((hook) => {
    const here = hook.node === node.id || (leaf !== null && hook.tensor != null && index.identity(hook.tensor) === leaf)
    return here && (passes.length === 0 || hook.pass == null || passes.includes(hook.pass))
  })
}

interface Neighbours {
  producers: Box[]
  consumers: Box[]
}

/** Answers for any box of a graph. */
export function neighbourFinder(graph: Graph): (id: string) => Neighbours {
  const boxes = new Map(graph.boxes.map((box) => [box.id, box]))
  const producers = new Map<string, string[]>()
  const consumers = new Map<string, string[]>()
  for (const { source, target } of graph.links) {
    push(producers, target, source)
    push(consumers, source, target)
  }
  const pick = (ids: readonly string[] = []): Box[] => [...new Set(ids)].flatMap((box) => boxes.get(box) ?? [])
  return (id) => ({ producers: pick(producers.get(id)), consumers: pick(consumers.get(id)) })
}
