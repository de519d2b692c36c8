// Why a leaf's gradient is what it is: the contributions that met there, and the factors along the paths they came by.

import type { Accumulation, HookCall, Node, Pass, Sum, Tensor, Term, Visit } from '../../api/types'
import { brackets, positions } from '../ops/places'
import { written } from '../ops/terms'
import { plus, asTerm } from '../words/format'
import { element, isShort, isSumOf, localsAt, UNKNOWN, type Local } from './local'
import { codeOf, derivativeName, elements, nodeName, opName } from './naming'
import { push, type TraceIndex } from './trace-index'

/** Where a path begins: the gradient put in, an element that an op did not read, a node whose own factor is not known,
 *  or a number that arrived at one or that a hook made of what did. */
export interface Start {
  kind: 'seed' | 'unread' | 'node' | 'arrived' | 'hooked'
  node: Node | undefined
  value: number
  /** Which element, where other paths begin at another one of the same node. */
  place: string
  /** Of how many products or terms it is the sum, where those are known but too many. */
  products: number
}

export interface Factor {
  node: Node
  value: number
  /** As one writes it; parallel edges one after the other: `2·3`, `3 + 4`. Empty of what the program itself made of a
   *  number, and that may be anything. */
  text: string
  /** What that made, and whether a hook did or the node's own backward. */
  made?: { value: number; by: 'hook' | 'backward' }
  /** The element of what arrived at the node, where other paths lead through another one. */
  place: string
  /** What the node sent, where a short type made that another number than the product. */
  rounded?: { value: number; dtype: string }
}

export interface Path {
  start: Start
  factors: Factor[]
  /** The product of all, rounded where they were. */
  value: number
}

/** Fewer of the same in a row are told one by one. */
const LEAST_RUN = 3

/** Factors that are told as one, and their product as one writes it. */
export interface Run {
  text: string
  factors: Factor[]
}

/** Factors as they are told: the same in a long row as a power, and so two that take turns. */
export function inRuns(factors: readonly Factor[]): Run[] {
  const runs: Run[] = []
  for (let at = 0; at < factors.length;) {
    const [period, times] = repeated(factors, at)
    const run = factors.slice(at, at + period * times)
    const texts = run.slice(0, period).map(({ text }) => text)
    const others = texts.filter((text) => text !== '1')
    const base = others.map((text) => (others.length > 1 ? asFactor(text) : text)).join('·') || '1'
    runs.push({ text: times > 1 ? power(base, times) : base, factors: run })
    at += run.length
  }
  return runs
}

/** Of how many factors a run from one on consists, and how often they come. */
function repeated(factors: readonly Factor[], at: number): [period: number, times: number] {
  const runs = [1, 2].map((period) => {
    let end = at + 1
    const isSame = ({ value, text }: Factor, other: Factor) => text === other.text && value === other.value
    while (end < factors.length && !factors[end - 1]!.rounded
      && (end < at + period || isSame(factors[end]!, factors[end - period]!))) end += 1
    return [period, Math.floor((end - at) / period)] as [number, number]
  })
  return runs.find(([, times]) => times >= LEAST_RUN) ?? [1, 1]
}

function power(base: string, times: number): string {
  const raised = [...String(times)].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('')
  return base === '1' ? base : asFactor(base) + raised
}

/** A term that stands as it is in a product and under a power, or in brackets. */
function asFactor(text: string): string {
  return /^[\d.]+$/.test(text) ? text : `(${text})`
}

/** What one node sent to a leaf in one pass, by one edge or several. */
export interface Contribution {
  /** Null for the gradient that was put in at the leaf itself. */
  node: Node | null
  tensors: Tensor[]
  /** Visit of the pass. */
  visit: number
  slots: number[]
}

const MOST_PATHS = 6
const MOST_FACTORS = 40

function sumAt(visit: Visit | undefined, inputNr: number): Sum | undefined {
  return visit?.sums?.find((sum) => sum.input_nr === inputNr)
}

/** The terms that arrived at an input of a node, of a single one too. */
function termsAt(index: TraceIndex, pass: Pass, at: number, inputNr: number): Term[] {
  const visit = pass.visits[at]
  const entered = visit?.entered[inputNr]
  const sum = sumAt(visit, inputNr)
  if (!visit || entered == null) return []
  if (sum) return sum.terms
  for (const earlier of pass.visits.slice(0, at)) {
    const slot = index.node(earlier.node)?.edges.findIndex(
      (edge, slot) => edge.to === visit.node && edge.input_nr === inputNr && earlier.left[slot] === entered,
    ) ?? -1
    if (slot >= 0) return [{ tensor: entered, node: earlier.node, slot }]
  }
  const isRoot = pass.roots.some((root) => root.node === visit.node && root.input_nr === inputNr)
  return isRoot ? [{ tensor: entered }] : []
}

/** Terms by the nodes that sent them before a visit, in the order of arrival. */
function gathered(index: TraceIndex, pass: Pass, at: number, terms: readonly Term[]): Contribution[] {
  const found: Contribution[] = []
  for (const { tensor: id, node, slot = 0 } of terms) {
    const tensor = index.tensor(id)
    const visit = pass.visits.findLastIndex((visit, n) => n < at && visit.node === node && visit.left[slot] === id)
    const same = node != null ? found.find((earlier) => earlier.visit === visit) : undefined
    if (!tensor) continue
    if (same) {
      same.tensors.push(tensor)
      same.slots.push(slot)
    } else found.push({ node: index.node(node) ?? null, tensors: [tensor], visit, slots: [slot] })
  }
  return found
}

/** What came together at a leaf in a pass. */
export function contributions(index: TraceIndex, pass: Pass, { visit }: Accumulation): Contribution[] {
  return gathered(index, pass, visit, termsAt(index, pass, visit, 0))
}

/** What an `autograd.grad` returned for a leaf, and what came together in it. */
export interface Returned {
  pass: Pass
  gradient: Tensor
  parts: Contribution[]
}

/** The latest `autograd.grad` by a step that returned a gradient for a leaf. */
export function returnedFor(index: TraceIndex, leaf: string, step: number): Returned | null {
  const own = index.identity(leaf)
  for (const pass of index.trace.passes.toReversed()) {
    const at = pass.inputs?.findIndex((asked) => asked != null && index.identity(asked) === own) ?? -1
    const gradient = index.tensor(pass.results?.[at])
    if (!gradient || index.passEnd(pass.id) > step) continue
    const { node: to, output_nr: inputNr } = pass.input_nodes?.[at] ?? {}
    const terms = pass.visits.flatMap(({ node, left }) =>
      (index.node(node)?.edges ?? []).flatMap((edge, slot): Term[] =>
        edge.to === to && edge.input_nr === inputNr && left[slot] != null ? [{ tensor: left[slot], node, slot }] : []))
    return { pass, gradient, parts: gathered(index, pass, pass.visits.length, terms) }
  }
  return null
}

/** `SelectBackward0 · x[1, 2]` of a node inside a call that has no name of its own. */
export function senderName(index: TraceIndex, node: Node): string {
  const [name, op] = [derivativeName(index, node), index.op(node.op)]
  if (name !== node.type || !op) return name
  const [made, code] = [opName(index, op), codeOf(index, op)]
  return made === code ? `${name} · ${code}` : made
}

/** Of several contributions by nodes that are called alike and stand in one line, the how manieth each is going
 *  forward, and of how many; null of one alone. */
export function nthOf(index: TraceIndex, parts: readonly Contribution[], at: number): { n: number; of: number } | null {
  const key = ({ node }: Contribution): string =>
    `${nodeName(index, node ?? undefined)} ${index.op(node?.op)?.span?.line}`
  const alike = parts.filter((part) => key(part) === key(parts[at]!))
  const order = alike.map(({ node }) => Number(node?.sequence_nr ?? NaN))
  if (alike.length < 2 || order.some(Number.isNaN)) return null
  const own = order[alike.indexOf(parts[at]!)]!
  return { n: order.filter((other) => other <= own).length, of: alike.length }
}

/** The hooks that made of what arrived at an input of a node what it was given, one after the other; null where none
 *  changed anything. */
export function hookedAt(index: TraceIndex, pass: Pass, at: number, inputNr: number): HookCall[] | null {
  const sum = sumAt(pass.visits[at], inputNr)
  if (!sum?.hooked) return null
  const calls: HookCall[] = []
  let given = sum.total
  for (const call of index.trace.hooks ?? []) {
    if (call.pass !== pass.id || call.before == null || call.before !== given) continue
    calls.push(call)
    given = call.after ?? null
  }
  return calls
}

/** One element of a contribution; null where its values were not kept. */
export function amount({ tensors }: Contribution, cell: number): number | null {
  const values = tensors.map((tensor) => element(tensor, cell))
  return values.every((value) => value !== null) ? values.reduce((sum, value) => sum + value, 0) : null
}

/** Contributions as they are told of one element: the largest first, and those that brought 0 only counted, unless all
 *  did. */
export function ranked(parts: readonly Contribution[], cell: number): { told: Contribution[]; zeros: number } {
  const size = (part: Contribution): number => Math.abs(amount(part, cell) ?? NaN)
  const some = parts.filter((part) => size(part) !== 0)
  const told = some.length > 0 ? some.toSorted((a, b) => size(b) - size(a) || 0) : parts.slice(0, 1)
  return { told, zeros: parts.length - told.length }
}

/** `18 + 36 = 54`: how one element of what came together adds up, all of it; null for one part alone, and where the sum
 *  is not what the leaf got, as after a hook. */
export function sumOf(parts: readonly Contribution[], delta: Tensor | undefined, cell: number): string | null {
  const [values, made] = [parts.flatMap((part) => amount(part, cell) ?? []), element(delta, cell)]
  if (values.length < 2 || values.length < parts.length || made === null) return null
  return written('sum', values.map((value) => [value]), made, values.length, values.length)
}

/** The paths that brought something, of several by which a number came, how many brought 0, and how the parts add up:
 *  `0.02788 + 0.02224 = 0.05012`; null for one path, and where they don't come to the number. */
export function addedUp(
  paths: readonly Path[], got: number | null,
): { told: Path[]; zeros: number; sum: string | null } {
  const most = paths.filter(({ value }) => value !== 0)
  const told = most.length > 0 ? most : paths.slice(0, 1)
  const values = told.map(({ value }) => [value])
  const sum = told.length > 1 && got !== null ? written('sum', values, got, values.length, values.length) : null
  return { told, zeros: paths.length - told.length, sum }
}

/** The paths by which one element of a contribution came, each with the factors that are known. Where too many paths
 *  meet, or a short type rounded what several come to, they begin at the sum of them. A path that brings 0 beside
 *  others is not followed. */
export function pathsOf(index: TraceIndex, pass: Pass, contribution: Contribution, cell: number): Path[] {
  let budget = MOST_PATHS

  function back(sent: Contribution, cell: number, depth: number): Path[] {
    const got = amount(sent, cell)
    if (got === null) return []
    const visit = pass.visits[sent.visit]
    const place = placeIn(sent.tensors[0], cell)
    if (!sent.node || !visit) return [begin('seed', got, place, undefined)]
    const locals = sent.slots.map((slot) => localsAt(index, visit, slot, cell))
    const own = locals.length === 1 ? locals[0]! : parallel(locals)
    if (own?.length === 0) return [begin('unread', got, place, sent.node)]
    const brings = ({ value, from, output = 0 }: Local): boolean =>
      value * (element(index.tensor(visit.entered[output]), from) ?? NaN) !== 0
    const left = budget
    const found = own && spread(own, brings, (local, isFollowed) => through(sent, local, depth, isFollowed))
    const paths = found && rounded(sent, got, found)
    if (paths) return paths
    budget = left
    const unknown = own ? null : throughOwn(sent, visit, got, cell, depth)
    budget = left
    if (unknown) return [unknown]
    return [begin('node', got, place, sent.node, own?.filter(brings).length)]
  }

  /** The paths of all parts of a sum, those of a part that brings nothing beside others cut short; null where they are
   *  too many. */
  function spread<T>(
    parts: readonly T[], brings: (part: T) => boolean, paths: (part: T, isFollowed: boolean) => Path[],
  ): Path[] | null {
    const some = parts.filter(brings)
    const followed = new Set(some.length > 0 ? some : parts.slice(0, 1))
    if (followed.size - 1 > budget) return null
    budget -= followed.size - 1
    const others = parts.filter((part) => !followed.has(part))
    return [...[...followed].flatMap((part) => paths(part, true)), ...others.flatMap((part) => paths(part, false))]
  }

  /** Paths with what a short type made of their product; null where it rounded what several come to. */
  function rounded({ tensors, visit }: Contribution, got: number, paths: Path[]): Path[] | null {
    const [path, ...others] = paths
    const last = path?.factors.at(-1)
    const entered = index.tensor(pass.visits[visit]?.entered.find((one) => one !== null))
    const dtype = [tensors[0], entered].map((tensor) => tensor?.dtype ?? '').find(isShort)
    if (!last || !dtype || isSumOf(paths.map(({ value }) => value), got, 'float32')) return paths
    if (others.length > 0) return null
    return [{ ...path!, factors: path!.factors.with(-1, { ...last, rounded: { value: got, dtype } }), value: got }]
  }

  /** The paths of what arrived at one element, by the factor of the node. */
  function through(
    sent: Contribution, { value, text, from, output = 0 }: Local, depth: number, isFollowed: boolean,
  ): Path[] {
    const entered = index.tensor(pass.visits[sent.visit]?.entered[output])
    const factor: Factor = { node: sent.node!, value, text, place: placeIn(entered, from) }
    return arriving(sent, entered, output, from, isFollowed && text !== UNKNOWN ? depth : Infinity).map((path) => ({
      ...path, factors: [...path.factors, factor], value: path.value * value,
    }))
  }

  /** The path through a backward of the program's own, by what arrived at the same element of as many. */
  function throughOwn(
    { node, tensors: [left], slots, visit }: Contribution, { entered }: Visit, got: number, cell: number, depth: number,
  ): Path | null {
    const output = entered.findIndex((id) => id !== null)
    const arrived = index.tensor(entered[output])
    const value = element(arrived, cell)
    const isOne = slots.length === 1 && entered.filter((id) => id !== null).length === 1
    if (!node?.code || !isOne || value === null || arrived!.shape.join() !== left?.shape.join()) return null
    const place = placeIn(arrived, cell)
    const [path, ...others] = arriving({ node, tensors: [left!], slots, visit }, arrived, output, cell, depth)
    const begun = path && others.length === 0 ? path : begin('arrived', value, place, node)
    return madeOf(begun, node, place, got, 'backward')
  }

  /** The paths to the node that sent a contribution. */
  function arriving(
    { visit: at, node }: Contribution, entered: Tensor | undefined, output: number, cell: number, depth: number,
  ): Path[] {
    const sources = gathered(index, pass, at, termsAt(index, pass, at, output))
    const kind = sumAt(pass.visits[at], output)?.hooked ? 'hooked' : 'arrived'
    const brings = (source: Contribution): boolean => amount(source, cell) !== 0
    const left = budget
    const paths = sources.length > 0 && depth < MOST_FACTORS
      ? spread(sources, brings, (source, isLive) => (isLive ? back(source, cell, depth + 1) : cut(source, cell)))
      : null
    const value = element(entered, cell)
    if (kind === 'arrived' && paths) return paths
    budget = left
    if (value === null) return []
    if (node && paths?.length === 1) return [madeOf(paths[0]!, node, placeIn(entered, cell), value, 'hook')]
    const terms = kind === 'arrived' ? sources.filter(brings).length : 0
    return [begin(kind, value, placeIn(entered, cell), node ?? undefined, terms)]
  }

  /** A path that brings nothing, which is only counted. */
  function cut(source: Contribution, cell: number): Path[] {
    return [begin('node', amount(source, cell) ?? 0, '', source.node ?? undefined)]
  }

  return toldApart(back(contribution, cell, 0))
}

/** `[0][1]`, an element of a tensor that has several. */
function placeIn(tensor: Tensor | undefined, cell: number): string {
  return tensor && elements(tensor) > 1 ? brackets(positions(tensor.shape, cell)) : ''
}

/** Paths with the places of only those elements by which they differ. */
function toldApart(paths: readonly Path[]): Path[] {
  const places = new Map<Node | undefined, Set<string>>()
  const all = paths.flatMap(({ start, factors }) => [start, ...factors])
  for (const { node, place } of all) places.set(node, (places.get(node) ?? new Set()).add(place))
  const told = <T extends { node: Node | undefined; place: string }>(one: T): T =>
    places.get(one.node)!.size > 1 ? one : { ...one, place: '' }
  return paths.map((path) => ({ ...path, start: told(path.start), factors: path.factors.map(told) }))
}

/** The parts that parallel edges brought, those of one element as one; null where one edge's are not known. */
function parallel(locals: readonly (readonly Local[] | null)[]): Local[] | null {
  const byPlace = new Map<string, Local[]>()
  for (const found of locals) {
    if (!found) return null
    for (const local of found) push(byPlace, `${local.output} ${local.from}`, local)
  }
  return [...byPlace.values()].map((same) => ({
    ...same[0]!, value: same.reduce((sum, { value }) => sum + value, 0), text: together(same.map(({ text }) => text)),
  }))
}

/** The factors of parallel edges: `2·3` for twice the same. */
function together(texts: readonly string[]): string {
  const [first = ''] = texts
  if (texts.length === 1) return first
  if (texts.some((text) => text !== first)) return plus(texts)
  return first === '1' ? String(texts.length) : `${texts.length}·${asTerm(first)}`
}

/** A path with what the program itself made of its number. */
function madeOf(path: Path, node: Node, place: string, value: number, by: 'hook' | 'backward'): Path {
  return { ...path, factors: [...path.factors, { node, value: NaN, text: '', place, made: { value, by } }], value }
}

function begin(kind: Start['kind'], value: number, place: string, node: Node | undefined, products = 0): Path {
  return { start: { kind, node, value, place, products }, factors: [], value }
}
