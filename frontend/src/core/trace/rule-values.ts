// What stands in the places of a derivative rule at one visit, and how it is written.

import type { Argument, Edge, Node, Reduction, Saved, Tensor } from '../../api/types'
import { argumentOf } from '../ops/arguments'
import type { Grid } from '../ops/formula'
import type { Rule, RuleSlot } from '../rules'
import { display, listText } from '../words/display'
import { readNumber } from '../words/equation'
import { formatDigits, formatNumber, MINUS } from '../words/format'
import { element } from './local'
import { brief, codeOf, elements, nameOf, nodeName, ownerName, shortType } from './naming'
import { CONSTANT, escape } from './rule-letters'
import { numbersOf, signed } from './saved-numbers'
import { reductionOf } from './story'
import type { TraceIndex, VisitAt } from './trace-index'

/** Which argument of `linear(x, W, b)` stands in a place of the `addmm(b, x, W.T)` or `mm(x, W.T)` that it is. */
const LINEAR: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  AddmmBackward0: { mat1: 0, mat2: 1, self: 2 }, MmBackward0: { self: 0, mat2: 1 },
}
const LINEAR_ARGUMENTS = ['input', 'weight', 'bias']
const TURNED = 'mat2'

const WRITES = ['self', 'src']

/** A value in a rule: a tensor of the trace, or a number or axes as the node keeps them. */
type Value = Tensor | string

/** What stands in the places of a node's rule. */
export class Values {
  constructor(
    private readonly index: TraceIndex,
    readonly node: Node,
    readonly at: VisitAt,
  ) {}

  /** The gradient, an input by its slot, a saved field or the result. */
  of(name: string, into?: Tensor): Value | undefined {
    const { index, node, at } = this
    if (name === CONSTANT) return String(Math.PI)
    if (name === 'g') return index.tensor(at.visit.entered.find((id) => id !== null))
    if (name === 'n') return into && String(elements(into))
    const places = name === 'indices' ? this.indices() : []
    const saved = places.length === 1 ? places[0] : node.saved?.find((kept) => kept.field === name)
    if (saved?.tensor) return index.tensor(saved.tensor)
    const kept = saved?.text === TO_THE_END ? this.length() : saved?.text
    if (kept != null) return axes(kept) ? kept : undefined
    const op = index.op(node.op)
    if (name === 'result') return index.made(node.id)
    // Of the edges of a write, which may have no names, the first is what was written into.
    const slot = node.edges.findIndex((edge, at) => (edge.name ?? WRITES[at]) === name)
    const next = index.node(node.edges[slot]?.to)
    if (next?.variable) return index.tensor(next.variable)
    const made = next && index.made(next.id, node.edges[slot]?.input_nr)
    if (made) return made
    const given = this.given(name, slot)
    if (given?.tensor) return name === TURNED && op?.name === 'linear' ? undefined : index.tensor(given.tensor)
    return given?.text != null && axes(given.text) ? given.text : undefined
  }

  /** What the call was given for a place: `x * 3`, but not a layer that makes something else of it. */
  private given(name: string, slot: number): Argument | undefined {
    const { index, node } = this
    const op = index.op(node.op)
    if (node.type === 'CopySlices' && slot === 0) {
      const written = index.tensor(op?.inputs[0])
      return written && { tensor: written.base ?? written.id }
    }
    const at = op?.name === 'linear' ? LINEAR[node.type]?.[name] : undefined
    if (at !== undefined) {
      const part = argumentOf(op!, LINEAR_ARGUMENTS[at]!, at)
      return at > 0 || index.tensor(part?.tensor)?.shape.length === 2 ? part : undefined
    }
    if (op?.nodes.length !== 1) return undefined
    const parts = op.arguments.filter((part) => !part.name || part.tensor)
    const numbers = parts.filter((part) => part.text != null)
    if (slot < 0) return name === 'other' && numbers.length === 1 ? numbers[0] : undefined
    const each = [parts, parts.filter((part) => this.mayLearn(part))].find(({ length }) => length === node.edges.length)
    return each?.every((part, place) => this.leadsTo(node.edges[place]!, part)) ? each[slot] : undefined
  }

  /** Whether an argument is one of those that an edge may be of. */
  private mayLearn({ tensor, text }: Argument): boolean {
    return tensor ? !/^(bool|u?int)/.test(this.index.tensor(tensor)?.dtype ?? '') : text === 'None'
  }

  /** Whether an edge may be that of an argument in the order of the call. */
  private leadsTo({ to, input_nr, name }: Edge, part: Argument): boolean {
    const { index } = this
    const next = index.node(to)
    const id = next?.variable ?? (next && index.made(next.id, input_nr)?.id)
    const isIts = !next || (!!id && !!part.tensor && index.identity(id) === index.identity(part.tensor))
    return !!name && !part.name && isIts
  }

  /** How long the axis is that a slice is taken along. */
  private length(): string {
    const [sizes, dim] = ['self_sym_sizes', 'dim'].map((name) => numbersOf(this.node, name) ?? [])
    return `${sizes!.at(dim![0]!)}`
  }

  /** The indices of `x[rows, columns]`, as the node keeps them. */
  private indices(): Saved[] {
    return this.node.saved?.filter(({ field }) => /^indices\[/.test(field)) ?? []
  }

  name(place: string): string {
    const named = (node: Node | undefined): string => {
      const name = nodeName(this.index, node)
      return name === node?.type ? '' : this.spelled(name, this.index.made(node?.id ?? ''))
    }
    const own = named(this.node)
    if (place === 'result') return own
    const value = this.of(place, this.index.tensor(this.at.visit.left.find((id) => id !== null)))
    if (typeof value === 'string') return axes(value)!.map(formatNumber).join(', ')
    const made = value && this.index.producer(value.id)
    const op = this.index.op(this.node.op)
    if (place === 'indices' && made && made.id === this.node.op && !value.names?.length) {
      const code = codeOf(this.index, made)
      return code.includes(`${made.name}(`) ? `${code}.indices` : ''
    }
    if (place === 'indices' && value === undefined) {
      const names = this.indices().map(({ tensor }) => nameOf(this.index, this.index.tensor(tensor)))
      const [, listed] = /^\((\[[\d, -]+\](?:, \[[\d, -]+\])+)\)$/.exec(op?.arguments[1]?.text ?? '') ?? []
      return names.every(Boolean) ? names.join(', ') : listed ?? ''
    }
    if (place === 'view' && op) return op.name === 'setitem'
      ? codeOf(this.index, op)
      : nameOf(this.index, this.index.tensor(op.inputs[0]))
    if (place === TURNED && op?.name === 'linear') {
      const weight = this.index.tensor(this.given(place, -1)?.tensor)
      return weight ? `${ownerName(this.index, weight)}.T` : ''
    }
    const edge = this.node.edges.find((edge) => edge.name === place)
    const from = this.index.node(edge?.to)
    const name = this.spelled(nameOf(this.index, value), value) || (edge?.input_nr ? '' : named(from))
    // What is made on the way inside a call has no name of its own; what is changed in place keeps its.
    const isOwn = name === own && !this.isChanged(value)
    if (!from || from.variable || (name && !isOwn)) return isOwn ? '' : name
    const short = value && (listText(value) || (value.shape.length === 0 && brief(value)))
    return `${shortType(from.type)}(…)${this.piece(edge!)}${short ? ` = ${short}` : ''}`
  }

  /** A name that is more than what its op is called, as `add` is where `sum` adds up. */
  private spelled(name: string, tensor: Tensor | undefined): string {
    return name === this.index.producer(tensor?.id ?? '')?.name && !tensor?.names?.length ? '' : name
  }

  /** Whether the node changed a tensor in place. */
  private isChanged(value: Tensor | undefined): boolean {
    const made = this.index.made(this.node.id)
    return !!value && !!made && this.index.identity(value.id) === this.index.identity(made.id)
  }

  /** `[1]`: which of several results an edge leads to. */
  private piece({ to, input_nr }: Edge): string {
    const isOne = this.index.edgesInto(to!).every(({ node, slot }) => node.edges[slot]!.input_nr === 0)
    return isOne ? '' : `[${input_nr}]`
  }

  left(slot: RuleSlot, rule: Rule): Tensor | undefined {
    return this.index.tensor(this.at.visit.left[this.number(slot, rule)])
  }

  reduction(slot: RuleSlot, rule: Rule): Reduction | undefined {
    return reductionOf(this.at.visit, this.number(slot, rule))
  }

  private number(slot: RuleSlot, rule: Rule): number {
    const number = this.node.edges.findIndex((edge) => edge.name === slot.name)
    return number >= 0 ? number : rule.slots.indexOf(slot)
  }
}

/** What PyTorch keeps as the end of `x[1:]`. */
const TO_THE_END = `${2n ** 63n - 1n}`

/** The numbers of `2.5`, `-1` or `(0, 1)`; null of other texts. */
function axes(text: string): number[] | null {
  const parts = text.replace(/^[([]|[)\]]$/g, '').replace(/,$/, '').split(',')
  const numbers = parts.map((part) => Number(signed(part.trim()) || NaN))
  return numbers.every(Number.isFinite) ? numbers : null
}

/** A value as it is written, and the same to compute with; an ellipsis is NaN, so that nothing is made of it. */
export interface Written {
  mathml: string
  texts: readonly string[]
  grid: Grid
}

function grid(shape: readonly number[], texts: readonly string[]): Grid {
  return { shape, values: texts.map(readNumber) }
}

/** The axis that is drawn as a row. */
function longest(shape: readonly number[]): number {
  return shape.length > 2 ? shape.findLastIndex((size) => size > 1) : -1
}

/** A small tensor or a few numbers; null for a tensor too large to write out. `digits` of a number by itself. */
export function written(value: Value, gradient: boolean, digits = 4): Written | null {
  const colour = gradient ? ' class="gradient"' : ''
  const number = (text: string): string => `<mn${colour}>${escape(text)}</mn>`
  if (typeof value === 'string') {
    const texts = axes(value)!.map((number) => formatDigits(number, digits))
    return { mathml: number(texts.join(', ')), texts, grid: grid(texts.length === 1 ? [] : [texts.length], texts) }
  }
  const shown = display(value)
  if (shown.kind === 'number' || (shown.kind === 'word' && value.shape.length === 0)) {
    const exact = digits > 4 && shown.kind === 'number' ? element(value, 0) : null
    const text = exact === null ? shown.text : formatDigits(exact, digits)
    return { mathml: number(text), texts: [text], grid: grid([], [text]) }
  }
  if (shown.kind !== 'matrix' || shown.stacked) return null
  const rows = shown.rows.map(
    (row) => `<mtr>${row.map((cell) => `<mtd><mn>${escape(cell)}</mn></mtd>`).join('')}</mtr>`,
  )
  const texts = shown.rows.flat()
  return {
    mathml: `<mtable class="${gradient ? 'gradient ' : ''}matrix">${rows.join('')}</mtable>`,
    texts,
    grid: grid(value.shape.with(longest(value.shape), shown.rows[0]!.length), texts),
  }
}

/** A negative or very small number among others stands in brackets. */
export function bracketed({ mathml, texts: [text = ''], grid }: Written, name: string): string {
  const bare = name === 'dim' || grid.shape.length > 0 || !(text.startsWith(MINUS) || /\de/.test(text))
  return bare ? mathml : `<mrow><mo>(</mo>${mathml}<mo>)</mo></mrow>`
}
