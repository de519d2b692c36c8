// Search over a run: names, types, lines and what values and gradients are like, of boxes, folded parameters and
// groups.

import type { Box, Graph, Node, Op, Tensor } from '../../api/types'
import { groupTitle } from './fold'
import { brief, nonFinite, normOf, uniform } from '../words/display'
import { formatNumber, formatShape, wireNumber } from '../words/format'
import type { Words } from '../words/sentences'
import type { Selection, ViewState } from '../state'
import { fillingAt } from '../trace/filling'
import { boxFinder, opName, passName, tensorName } from '../trace/naming'
import { linesOfGraph, linesOfSpan, type TraceIndex } from '../trace/trace-index'

export interface Match {
  key: string
  name: string
  detail: string
  selection: Selection
  /** The view that draws it, where the graph shown does not. */
  go?: Partial<Pick<ViewState, 'root' | 'pass' | 'step'>>
}

/** What a query asks of a box besides words: `nan`, `inf`, `norm > 50`, `4x16`, and `grad = 0`, which means the number
 *  all elements are, else their norm. */
type Condition = (value: Tensor | undefined, gradient: Tensor | undefined) => boolean

const COMPARED = /(?<![\p{L}\p{N}_.])(grad|norm)\s*(<=|>=|<|>|=)=?\s*([-+]?[\d.]+(?:e[-+]?\d+)?)/giu
/** A number is equal to what it is written as. */
const HOLDS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '<': (a, b) => a < b, '>': (a, b) => a > b, '<=': (a, b) => a <= b, '>=': (a, b) => a >= b,
  '=': (a, b) => a === b || formatNumber(a) === formatNumber(b),
}

const ASCII: Readonly<Record<string, string>> = { '≤': '<=', '≥': '>=', '−': '-' }

/** The conditions of a query, and the words that are left. */
function conditionsOf(query: string): { conditions: Condition[]; words: string[] } {
  const conditions: Condition[] = []
  const plain = query.normalize('NFKC').replace(/[≤≥−]/g, (sign) => ASCII[sign]!)
  const rest = plain.replace(COMPARED, (_, what: string, sign: string, number: string) => {
    const isGradient = what.toLowerCase() === 'grad'
    const holds = (tensor: Tensor | undefined) =>
      tensor !== undefined && HOLDS[sign]!((isGradient ? uniform(tensor) : null) ?? normOf(tensor), Number(number))
    // a mask of -Inf is no large value
    conditions.push((value, gradient) =>
      holds(gradient) || (!isGradient && holds(value) && nonFinite(value!).inf === 0))
    return ' '
  })
  const words = rest.trim().toLowerCase().split(/\s+/).filter((word) => {
    const shape = /^\d+([x×]\d+)+$/.test(word) ? word.replaceAll('x', '×') : null
    if (shape) conditions.push((value) => value !== undefined && `${formatShape(value.shape)}×`.startsWith(`${shape}×`))
    const [, sign, odd] = /^([-+]?)(nan|inf)$/.exec(word) ?? []
    if (odd) conditions.push((...tensors) => tensors.some((tensor) => tensor && holdsOdd(tensor, odd, sign)))
    return word !== '' && !shape && !odd
  })
  return { conditions, words }
}

/** Whether some elements are NaN, or infinite, of one sign where that is asked for and the elements are known. */
function holdsOdd(tensor: Tensor, odd: string, sign = ''): boolean {
  const { data } = tensor
  if (odd === 'inf' && sign && data) return data.some((value) => wireNumber(value) === Number(`${sign}Infinity`))
  return nonFinite(tensor)[odd as 'nan' | 'inf'] > 0
}

function leafGradient(tensor: string, index: TraceIndex): Tensor | undefined {
  return index.tensor(index.accumulationsOf.get(index.identity(tensor))?.at(-1)?.accumulation.after)
}

/** The gradient last shown on a box: what came to its node, of a leaf its `.grad`. */
function gradientOf(box: Box, index: TraceIndex): Tensor | undefined {
  if (box.kind === 'leaf' && box.tensor != null) return leafGradient(box.tensor, index)
  return index.tensor(index.visitsOfNode.get(box.node ?? '')?.at(-1)?.visit.entered[box.output_nr ?? 0])
}

type Place = Pick<Match, 'selection' | 'go'> & { name: string }

/** Where a node that the graph shown lacks is drawn: at the first pass that ran it, or under the root that leads to it;
 *  what is drawn nowhere is at its line. */
function placesOf(graph: Graph, index: TraceIndex, t: Words): (node: Node | undefined, op?: Op) => Place | undefined {
  const rootOf = new Map<string, { id: string; name: string }>()
  for (const { id, name, passes = [] } of graph.roots) {
    const ahead = passes.length === 0 ? [id] : []
    for (let node = ahead.pop(); node !== undefined; node = ahead.pop()) {
      if (rootOf.has(node)) continue
      rootOf.set(node, { id, name })
      for (const { to } of index.node(node)?.edges ?? []) if (to != null) ahead.push(to)
    }
  }
  return (node, op) => {
    const at = node && index.visitsOfNode.get(node.id)?.[0]
    const root = node && rootOf.get(node.id)
    const selection: Selection = { kind: 'box', id: (graph.level === 'forward' && op?.id) || node?.id || '' }
    if (at) return { name: passName(at.pass, t), selection, go: { root: null, pass: null, step: at.step } }
    if (root) return { name: root.name, selection, go: { root: root.id, pass: null } }
    const line = op?.span?.line
    if (line === undefined) return undefined
    const step = index.stepOfOp.get(op!.id)
    return { name: t('inspect.line', { line }), selection: { kind: 'line', line }, go: step ? { step } : {} }
  }
}

/** What matches all the words and conditions of a query, first what the graph shows; a number also matches a line. */
export function search(graph: Graph, index: TraceIndex, query: string, t: Words): Match[] {
  const line = /^(?:l|line|第)?\s*(\d+)\s*(?:行)?$/.exec(query.trim().toLowerCase())
  const number = line ? Number(line[1]) : 0
  const { conditions, words: wanted } = conditionsOf(query)
  if (wanted.length === 0 && conditions.length === 0) return []
  const found: Match[] = []
  const add = (
    key: string, name: string, detail: string, words: string, selection: Selection, go?: Match['go'],
    span?: Box['span'],
  ): void => {
    const text = `${name} ${detail} ${words}`.toLowerCase()
    if (linesOfSpan(span).includes(number) || wanted.every((word) => text.includes(word)))
      found.push({ key, name, detail, selection, ...(go && { go }) })
  }
  if (number > 0 && number <= index.trace.program.code.split('\n').length) {
    const code = index.trace.program.code.split('\n')[number - 1]?.trim() ?? ''
    found.push({ key: `line ${number}`, name: `${number}`, detail: code, selection: { kind: 'line', line: number } })
  }
  for (const group of conditions.length > 0 ? [] : graph.groups) {
    const path = index.trace.modules.find((module) => module.id === group.module)?.path ?? groupTitle(group, t)
    add(group.id, path, group.type, '', { kind: 'group', id: group.id })
  }
  const isLike = (tensor: Tensor | undefined, gradient: Tensor | undefined): boolean =>
    conditions.every((holds) => holds(tensor, gradient))
  const sizes = (...tensors: (Tensor | undefined)[]): string =>
    conditions.length === 0 ? '' : tensors.map((tensor) => (tensor ? brief(tensor) : '–')).join(' ▴ ')
  const listed = new Set<string>()
  for (const box of graph.boxes) {
    const tensor = index.tensor(box.tensor)
    const shape = tensor ? formatShape(tensor.shape) : ''
    const names = tensor?.names?.join(' ') ?? ''
    const selection: Selection = { kind: 'box', id: box.id }
    const gradient = gradientOf(box, index)
    if (isLike(tensor, gradient))
      add(
        box.id, box.name || box.title,
        [box.kind === 'leaf' ? '' : box.title, shape, sizes(tensor, gradient)].filter(Boolean).join(' '),
        `${box.family} ${names} ${tensor?.dtype ?? ''}`, selection, undefined, box.span,
      )
    for (const parameter of box.parameters ?? []) {
      const [of, gradient] = [index.tensor(parameter.tensor), leafGradient(parameter.tensor, index)]
      if (!of || listed.has(of.id) || !isLike(of, gradient)) continue
      listed.add(of.id)
      const detail = [formatShape(of.shape), sizes(of, gradient)].filter(Boolean).join(' ')
      add(`${box.id} ${parameter.tensor}`, parameter.name, detail, `parameter ${of.dtype}`, selection)
    }
  }
  const shown = boxFinder(graph, index)
  const lines = linesOfGraph(graph).boxesOf
  const placeOf = placesOf(graph, index, t)
  const addElsewhere = (
    key: string, name: string, type: string, tensor: Tensor | undefined, gradient: Tensor | undefined,
    at: Place | undefined, span?: Box['span'],
  ): void => {
    if (!at || !tensor || !isLike(tensor, gradient)) return
    const place = t('search.elsewhere', { place: at.name })
    const detail = [type, formatShape(tensor.shape), sizes(tensor, gradient), place].filter(Boolean).join(' ')
    add(key, name, detail, tensor.dtype, at.selection, at.go, span)
  }
  for (const op of index.trace.ops) {
    const [made, node] = [index.tensor(op.outputs[0]), index.node(op.nodes.at(-1))]
    // What autograd did not record is told with what is drawn of its tensor or its line; what fills a parameter, with
    // that.
    const isFilling = fillingAt(index, index.stepOfOp.get(op.id) ?? 0) !== null
    const isTold = isFilling || !node && (lines.has(op.span?.line ?? 0) || (made && shown.ofTensor(made.id)))
    if (isTold || shown.ofOp(op.id) || shown.ofNode(node?.id)) continue
    const visit = node && index.visitsOfNode.get(node.id)?.at(-1)?.visit
    const gradient = index.tensor(visit?.entered[made?.grad_fn?.output_nr ?? 0])
    addElsewhere(op.id, opName(index, op), node?.type ?? op.name, made, gradient, placeOf(node, op), op.span)
  }
  for (const leaf of index.trace.nodes) {
    if (leaf.variable == null || shown.ofTensor(leaf.variable)) continue
    const tensor = index.tensor(leaf.variable)
    const user = index.edgesInto(leaf.id)[0]?.node
    const op = tensor?.role === 'parameter' ? index.op(user?.op) : undefined
    const node = op ? index.node(op.nodes.at(-1)) : leaf
    const gradient = leafGradient(leaf.variable, index)
    addElsewhere(leaf.id, tensorName(index, tensor), '', tensor, gradient, placeOf(node, op))
  }
  const tensors = new Map(graph.boxes.map(({ id, tensor }) => [id, tensor]))
  return toldApart(found, (box) => index.tensor(tensors.get(box)))
}

/** Boxes that read alike also tell their values. */
function toldApart(matches: readonly Match[], valueOf: (box: string) => Tensor | undefined): Match[] {
  const reads = ({ name, detail }: Match): string => `${name} ${detail}`
  const times = new Map<string, number>()
  for (const match of matches) times.set(reads(match), (times.get(reads(match)) ?? 0) + 1)
  return matches.map((match) => {
    const value = times.get(reads(match))! > 1 && match.selection.kind === 'box' && valueOf(match.key)
    return value ? { ...match, detail: `${match.detail} ${brief(value)}` } : match
  })
}
