// What a reader calls the things of a trace: the program's own names first, then its own code.

import type { Box, Edge, Graph, Node, Op, Pass, Span, Tensor } from '../../api/types'
import { display, inDigits, listText, normText, uniform } from '../words/display'
import { formatNumber, formatShape } from '../words/format'
import type { Lang } from '../state'
import type { TraceIndex } from './trace-index'
import type { Words } from '../words/sentences'

/** The user's code in a span, on one line, cut when long. Columns count code points. */
export function codeAt(code: string, span: Span | null | undefined, most = 40): string {
  if (!span) return ''
  const lines = code.split('\n').slice(span.line - 1, span.end_line)
  const cut = lines.map((line, at) => {
    const letters = [...line]
    const end = at === lines.length - 1 ? span.end_column : letters.length
    return letters.slice(at === 0 ? span.column : 0, end).join('').trim()
  })
  const text = cut.join(' ')
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}

const memberNames = new WeakMap<TraceIndex, ReadonlyMap<string, string>>()

/** What a parameter or buffer is called by its module's path, for one that no variable names. */
export function memberName(index: TraceIndex, tensor: Tensor | undefined): string | undefined {
  let names = memberNames.get(index)
  if (!names) {
    const members = index.trace.modules.flatMap((module) =>
      [...(module.parameters ?? []), ...(module.buffers ?? [])].map(
        (member) => [index.identity(member.tensor), `${module.path}.${member.name}`] as const,
      ),
    )
    memberNames.set(index, (names = new Map(members.reverse())))
  }
  return tensor && names.get(index.identity(tensor.id))
}

/** The code of a call; where a library took rows, `X[5]`. */
export function codeOf(index: TraceIndex, op: Op): string {
  const [from, ...at] = op.called === 'getitem' ? op.arguments.map(({ tensor, text }) =>
    text ?? tensorName(index, index.tensor(tensor))) : []
  if (from) return `${from}[${at.join(', ')}]`
  return op.called || codeAt(index.trace.program.code, op.span, 28) || op.name
}

/** What the program calls a tensor, or the code that made it; nothing where it has neither. */
export function nameOf(index: TraceIndex, tensor: Tensor | undefined): string {
  if (!tensor) return ''
  const called = tensor.names?.[0] ?? index.tensor(tensor.identity)?.names?.[0]
  // every module calls its own so
  const named = called && !called.startsWith('self.') ? called : (memberName(index, tensor) ?? called)
  if (named) return named
  const made = index.producer(tensor.id)
  const isTurned = made?.inside && made.inputs.includes(tensor.id) // a leaf that `torch.func` made of what it was given
  if (made && !isTurned) return codeOf(index, made)
  return tensor.role === 'constant' || tensor.role === 'seed' ? brief(tensor) : ''
}

/** As `nameOf`; a tensor without a name is told by what it is a view of, or by its shape. */
export function tensorName(index: TraceIndex, tensor: Tensor | undefined): string {
  const name = nameOf(index, tensor)
  if (name || !tensor) return name
  const base = index.tensor(tensor.base)
  return base && base !== tensor ? tensorName(index, base) : `${tensor.dtype} ${formatShape(tensor.shape)}`
}

/** As `tensorName`, for an attribute to be written behind it: `(3 * w)`. */
export function ownerName(index: TraceIndex, tensor: Tensor | undefined): string {
  return owner(tensorName(index, tensor))
}

function owner(name: string): string {
  let flat = name
  for (let before = ''; before !== flat; ) [before, flat] = [flat, flat.replace(/[([][^()[\]]*[)\]]/g, '')]
  return /^[\w.]*$/.test(flat) ? name : `(${name})`
}

/** So many results of one call are all named where it is. */
const FEW_NAMES = 4

/** The names of all that one call gave: `left, right`; of many the first and the last. */
function nameOfAll(names: readonly (string | undefined)[]): string {
  const each = [...new Set(names.filter(Boolean))]
  return each.length > FEW_NAMES ? `${each[0]!} … ${each.at(-1)!}` : each.join(', ')
}

export function opName(index: TraceIndex, op: Op): string {
  return nameOfAll(op.outputs.map((id) => index.tensor(id)?.names?.[0])) || codeOf(index, op)
}

/** What a node computed, in the program's words: `y`, `y * y`, `fc.weight.T`; for a sink the leaf. The type of one that
 *  works on the way inside a call: what the call gave is not its own. Of a node with several results all their
 *  names, or the one that an edge into it is of. */
export function nodeName(index: TraceIndex, node: Node | undefined, outputNr?: number): string {
  if (!node) return ''
  if (node.variable) return tensorName(index, index.tensor(node.variable))
  const outputs = outputNr === undefined ? (node.outputs ?? [0]) : [0]
  const made = nameOfAll(outputs.map((_, nr) => nameOf(index, index.made(node.id, outputNr ?? nr))))
  if (made || node.type !== 'TBackward0') return made || node.type
  const turned = index.node(node.edges[0]?.to)
  const name = nodeName(index, turned)
  return name && name !== turned?.type ? `${owner(name)}.T` : node.type
}

/** `∂ y` of a node that the backward of `y` made, `∂² y` of one that the backward of that made, as on its box; of
 *  others what they computed. */
export function derivativeName(index: TraceIndex, node: Node): string {
  const name = nodeName(index, node)
  const maker = name === node.type && index.node(node.made_by)
  const made = maker && derivativeName(index, maker)
  return made && made !== maker.type ? `∂ ${made}`.replace('∂ ∂ ', '∂² ').replace('∂ ∂²', '∂³') : name
}

/** `MulBackward0 · y`; the type alone of a node without a name. */
export function typeAndName(index: TraceIndex, node: Node | undefined): string {
  return [...new Set([node?.type ?? '', nodeName(index, node)])].join(' · ')
}

/** What an edge leads to: of a node with several results the one. */
export function edgeName(index: TraceIndex, edge: Edge | undefined): string {
  return nodeName(index, index.node(edge?.to), edge?.input_nr)
}

/** What a node sends to along an edge is called: by its type too where it has the sender's own name. */
export function receiverName(index: TraceIndex, edge: Edge, from: Node | undefined): string {
  const name = edgeName(index, edge)
  return name === nodeName(index, from) ? typeAndName(index, index.node(edge.to)) : name
}

/** `Mul` for `MulBackward0`: short enough for a mark on the timeline. */
export function shortType(type: string): string {
  return type.replace(/Backward\d*$/, '') || type
}

export function passName(pass: Pass, t: Words): string {
  const call = pass.kind === 'grad' ? 'autograd.grad()' : 'backward()'
  return t('pass.name', { call, n: pass.id.slice(1) })
}

/** A tensor in a few letters: its number, its few values, the number all its elements are, `[2, …]` (unless it is told
 *  beside others that are `mixed`), or its norm; of whole numbers and truth values, which have none, its type and
 *  shape. */
export function brief(tensor: Tensor, mixed = false): string {
  const shown = display(tensor)
  if (shown.kind === 'number' || shown.kind === 'word') return shown.text
  const listed = listText(tensor, 5)
  if (listed && (listed.length < 25 || !listed.includes('], ['))) return listed
  const same = mixed ? null : uniform(tensor)
  if (same !== null) {
    const one = tensor.dtype === 'bool' ? (same ? 'True' : 'False') : formatNumber(same)
    return tensor.shape.reduce((text) => `[${text}]`, `${one}, …`)
  }
  return /^(bool|u?int)/.test(tensor.dtype) ? `${tensor.dtype} ${formatShape(tensor.shape)}` : normText(tensor)
}

/** As `brief`, but says that all elements are the same: `全为 3`. */
export function briefValue(tensor: Tensor, t: Words): string {
  const same = uniform(tensor)
  if (same !== null && tensor.shape.length > 0 && elements(tensor) > 1)
    return t('vars.all', { value: formatNumber(same) })
  return brief(tensor)
}

/** What can stand at the end of a line, the most telling first: a value, also with fewer digits, `2×2 · 3`, a shape.
 *  One of a single axis is written as Python does, for a lone number would be read as the value. */
export function briefLine(tensor: Tensor): string[] {
  const value = brief(tensor)
  if (elements(tensor) === 0 || tensor.shape.length === 0) return [value]
  const shape = tensor.shape.length > 1 ? formatShape(tensor.shape) : `(${tensor.shape[0]!},)`
  const same = uniform(tensor)
  const isListed = value.startsWith('[') && (same === null || !value.includes('…'))
  return [
    ...(isListed ? [value, ...[3, 2].map((digits) => inDigits(value, digits))] : []),
    ...(same === null ? [] : [`${shape} · ${formatNumber(same)}`]), shape,
  ]
}

/** Thousands apart, as each language writes them: 4,812 and 4 812. */
export function grouped(n: number, lang: Lang): string {
  return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, lang === 'en' ? ',' : '\u202f')
}

export function elements(tensor: Tensor): number {
  return tensor.shape.reduce((product, size) => product * size, 1)
}

/** Which box of the drawn graph shows a node, an op, a tensor; folded leaves point at the box they are folded into. */
export interface BoxFinder {
  ofNode(id: string | null | undefined): Box | undefined
  ofOp(id: string | null | undefined): Box | undefined
  ofTensor(id: string | null | undefined): Box | undefined
  byId(id: string): Box | undefined
}

export function boxFinder(graph: Graph, index: TraceIndex): BoxFinder {
  const ids = new Map<string, Box>()
  const nodes = new Map<string, Box>()
  const ops = new Map<string, Box>()
  const tensors = new Map<string, Box>()
  for (const box of graph.boxes) {
    ids.set(box.id, box)
    if (box.node) nodes.set(box.node, box)
    for (const op of [box.op, ...(box.ops ?? [])]) if (op) ops.set(op, box)
    if (box.tensor && box.reason !== 'item') tensors.set(index.identity(box.tensor), box)
  }
  // Of several that take a parameter, the one that sends it a gradient.
  const visits = (graph.passes ?? []).flatMap((id) => index.passes.get(id)?.visits ?? [])
  const visited = new Set<string | null | undefined>(visits.map(({ node }) => node))
  for (const box of [...graph.boxes.filter(({ node }) => visited.has(node)), ...graph.boxes]) {
    for (const parameter of box.parameters ?? []) {
      if (parameter.node && !nodes.has(parameter.node)) nodes.set(parameter.node, box)
      const identity = index.identity(parameter.tensor)
      if (!tensors.has(identity)) tensors.set(identity, box)
    }
  }
  const find = <T>(map: ReadonlyMap<string, T>, id: string | null | undefined): T | undefined =>
    id == null ? undefined : map.get(id)
  return {
    ofNode: (id) => find(nodes, id),
    ofOp: (id) => find(ops, id),
    ofTensor: (id) => (id == null ? undefined : tensors.get(index.identity(id))),
    byId: (id) => ids.get(id),
  }
}
