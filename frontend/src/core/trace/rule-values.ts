// What stands in the places of a derivative rule at one visit, and how it is written.

import type { Edge, Node, Reduction, Saved, Tensor } from '../../api/types'
import type { Grid } from '../ops/formula'
import type { Rule, RuleSlot } from '../rules'
import { display } from '../words/display'
import { readNumber } from '../words/equation'
import { formatDigits, formatNumber, MINUS } from '../words/format'
import { element } from './local'
import { codeOf, elements, nameOf, nodeName, shortType } from './naming'
import { CONSTANT, escape } from './rule-letters'
import { numbersOf, signed } from './saved-numbers'
import { reductionOf } from './story'
import type { TraceIndex, VisitAt } from './trace-index'

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
    // Of the edges of a write through a view, which have no names, the first is what was written into.
    const slot = node.edges.findIndex((edge) => edge.name === name || (name === 'self' && !edge.name))
    const next = index.node(node.edges[slot]?.to)
    if (next?.variable) return index.tensor(next.variable)
    const made = next && index.made(next.id, node.edges[slot]?.input_nr)
    if (made) return made
    // Without an edge, the call's own arguments say it, as long as the call is the operation: `x * 3`, but not a layer.
    const parts = op?.nodes.length === 1 ? op.arguments : []
    const numbers = name === 'other' && slot < 0 ? parts.filter((part) => part.text != null && !part.name) : []
    const given = parts.length === node.edges.length ? parts[slot] : numbers.length === 1 ? numbers[0] : undefined
    if (given?.tensor) return index.tensor(given.tensor)
    if (given?.text != null && axes(given.text)) return given.text
    return slot >= 0 && !made ? this.untracked(slot) : undefined
  }

  /** How long the axis is that a slice is taken along. */
  private length(): string {
    const [sizes, dim] = ['self_sym_sizes', 'dim'].map((name) => numbersOf(this.node, name) ?? [])
    return `${sizes!.at(dim![0]!)}`
  }

  /** The matrix that a layer was given without tracking, where one edge is missing and one such was given. */
  private untracked(slot: number): Tensor | undefined {
    const { index, node } = this
    const missing = node.edges.flatMap(({ to }, at) => (to === null ? [at] : []))
    const given = (index.op(node.op)?.inputs ?? []).flatMap((id) => index.tensor(id) ?? [])
    const untracked = given.filter((tensor) => !tensor.requires_grad)
    const isSure = missing.length === 1 && missing[0] === slot && untracked.length === 1
    return isSure && untracked[0]!.shape.length === 2 ? untracked[0] : undefined
  }

  /** The indices of `x[rows, columns]`, as the node keeps them. */
  private indices(): Saved[] {
    return this.node.saved?.filter(({ field }) => /^indices\[/.test(field)) ?? []
  }

  name(place: string): string {
    const named = (node: Node | undefined): string => {
      const name = nodeName(this.index, node)
      return name === node?.type ? '' : name
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
    const edge = this.node.edges.find((edge) => edge.name === place)
    const from = this.index.node(edge?.to)
    const name = nameOf(this.index, value) || (edge?.input_nr ? '' : named(from))
    // What is made on the way inside a call has no name of its own; what is changed in place keeps its.
    const isOwn = name === own && !this.isChanged(value)
    return (isOwn ? '' : name) || (from && !from.variable ? `${shortType(from.type)}(…)${this.piece(edge!)}` : '')
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
    grid: grid([...value.shape.slice(0, -1), shown.rows[0]!.length], texts),
  }
}

/** A negative or very small number among others stands in brackets. */
export function bracketed({ mathml, texts: [text = ''], grid }: Written, name: string): string {
  const bare = name === 'dim' || grid.shape.length > 0 || !(text.startsWith(MINUS) || /\de/.test(text))
  return bare ? mathml : `<mrow><mo>(</mo>${mathml}<mo>)</mo></mrow>`
}
