// A derivative rule beside one visit: in letters that the program leaves free, and with the numbers that were there.

import type { Node, Reduction, Tensor } from '../../api/types'
import { count, evaluate, sum, type Grid } from '../ops/formula'
import type { Rule, RuleSlot } from '../rules'
import { display } from '../words/display'
import { formatNumber, MINUS } from '../words/format'
import { elements, nodeName, tensorName } from './naming'
import { reductionOf } from './story'
import type { TraceIndex, VisitAt } from './trace-index'

export interface RuleShown {
  /** What the op computed. */
  forward: string
  /** What the letters stand for here: `a = y`, `b = 3`. */
  stands: readonly { letter: string; name: string }[]
  /** `numbers` is null where they are too many, or don't make the equation true as they are written. */
  slots: readonly { name: string; formula: string; numbers: string | null }[]
}

/** What is said of a node by its rule; the numbers only once it was visited. */
export function ruleShown(index: TraceIndex, rule: Rule, node: Node, at: VisitAt, visited: boolean): RuleShown {
  const values = new Values(index, node, at)
  const letters = lettersFor(index, rule)
  const needed = rule.slots.filter(({ name }) => node.edges.find((edge) => edge.name === name)?.to !== null)
  return {
    forward: math(lettered(rule.forward_mathml, letters)),
    stands: standing(index, values, letters),
    slots: needed.map((slot) => ({
      name: slot.name,
      formula: math(
        `<mrow>${partial(letters.loss, lettered(place(slot), letters))}<mo>=</mo>${summed(
          lettered(slot.mathml, letters), values.reduction(slot, rule),
        )}</mrow>`,
      ),
      numbers: visited ? withNumbers(slot, values, rule) : null,
    })),
  }
}

const PLACE = /<mi data-slot="([^"]+)"[^>]*>(.*?)<\/mi>/g

function math(inner: string): string {
  return `<math display="inline" displaystyle="true">${inner}</math>`
}

function escape(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}

function place({ name, letter }: RuleSlot): string {
  return `<mi data-slot="${name}">${escape(letter)}</mi>`
}

function partial(loss: string, letter: string): string {
  return `<mfrac><mrow><mo>∂</mo><mi>${loss}</mi></mrow><mrow><mo>∂</mo>${letter}</mrow></mfrac>`
}

/** The sum over broadcast axes that the engine makes on the edge. */
function summed(formula: string, reduction: Reduction | undefined): string {
  if (!reduction) return formula
  const over = `<munder><mo>∑</mo><mn>${reduction.axes.join(', ')}</mn></munder>`
  return `<mrow>${over}<mrow><mo>(</mo>${formula}<mo>)</mo></mrow></mrow>`
}

const CONSTANT = 'π'
const FREE = { lower: [...'abcdhkpqrstuvwxyz'], upper: [...'ABCDKMPQRSUVWXYZ'] }
const GRADIENT = [...'guvwhq']
const LOSS = [...'LJES']

interface Letters {
  of: ReadonlyMap<string, string>
  loss: string
}

const namesOf = new WeakMap<TraceIndex, { read: ReadonlySet<string>; bound: ReadonlySet<string> }>()

/** Names that stand in the program, and those that it gave to something. */
function programNames(index: TraceIndex): { read: ReadonlySet<string>; bound: ReadonlySet<string> } {
  let names = namesOf.get(index)
  if (!names) {
    const { program, tensors, variables } = index.trace
    names = {
      read: new Set(program.code.match(/[\p{L}_][\p{L}\p{N}_]*/gu)),
      bound: new Set([...variables.map(({ name }) => name), ...tensors.flatMap((tensor) => tensor.names ?? [])]),
    }
    namesOf.set(index, names)
  }
  return names
}

function firstFree(candidates: readonly string[], taken: (letter: string) => boolean): string {
  return candidates.find((letter) => !taken(letter)) ?? `${candidates[0]!}₀`
}

/** The letter of the gradient that enters, everywhere the inspector speaks of it. */
export function gradientLetter(index: TraceIndex): string {
  return firstFree(GRADIENT, (letter) => programNames(index).read.has(letter))
}

/** The rule's own letters where the program leaves them free, others where it has a use for them. */
function lettersFor(index: TraceIndex, rule: Rule): Letters {
  const { read, bound } = programNames(index)
  const loss = firstFree(LOSS, (letter) => read.has(letter))
  const used = new Set([loss, gradientLetter(index)])
  const of = new Map([['g', gradientLetter(index)]])
  for (const [, name = '', letter = ''] of placesOf(rule)) {
    if (name === CONSTANT || of.has(name)) continue
    const [base = '', ...marks] = letter.length > 1 && /^[\w.]+$/.test(letter) ? [letter] : letter
    const others = /\p{Lu}/u.test(base) ? FREE.upper : FREE.lower
    const names = base.length > 1 ? bound : read
    const chosen = names.has(base) || used.has(base)
      ? firstFree(others, (other) => read.has(other) || used.has(other))
      : base
    used.add(chosen)
    of.set(name, chosen + marks.join(''))
  }
  return { of, loss }
}

function placesOf(rule: Rule): RegExpExecArray[] {
  const all = rule.slots.map((slot) => place(slot) + slot.mathml)
  return [...(rule.forward_mathml + all.join('')).matchAll(PLACE)]
}

function lettered(mathml: string, { of }: Letters): string {
  return mathml.replace(PLACE, (whole, name: string, letter: string) => {
    const chosen = of.get(name)
    return chosen === undefined ? whole : whole.replace(`>${letter}<`, `>${escape(chosen)}<`)
  })
}

function standing(index: TraceIndex, values: Values, { of, loss }: Letters): { letter: string; name: string }[] {
  const found = [...of]
    .flatMap(([place, letter]) => {
      const name = place === 'g' ? '' : values.name(place)
      return name ? [{ letter, name }] : []
    })
    .sort((a, b) => a.letter.localeCompare(b.letter))
  const { roots } = values.at.pass
  const root = roots.length === 1 ? index.tensor(roots[0]?.tensor) : undefined
  const name = root && tensorName(index, root)
  return name && name !== root.id ? [...found, { letter: loss, name }] : found
}

/** A value in a rule: a tensor of the trace, or a number or axes as the node keeps them. */
type Value = Tensor | string

/** What stands in the places of a node's rule. */
class Values {
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
    const saved = node.saved?.find((kept) => kept.field === name)
    if (saved?.tensor) return index.tensor(saved.tensor)
    const kept = saved?.text
    if (kept != null) return axes(kept) ? kept : undefined
    const op = index.op(node.op)
    if (name === 'result') return index.tensor(op?.outputs[0])
    const slot = node.edges.findIndex((edge) => edge.name === name)
    const next = index.node(node.edges[slot]?.to)
    if (next?.variable) return index.tensor(next.variable)
    if (next && next.op !== node.op)
      return index.tensor(index.op(next.op)?.outputs[node.edges[slot]?.input_nr ?? 0])
    // Without an edge, the call's own arguments say it, as long as the call is the operation: `x * 3`, but not a layer.
    const given =
      op && op.nodes.length === 1 && op.arguments.length === node.edges.length ? op.arguments[slot] : undefined
    if (given?.tensor) return index.tensor(given.tensor)
    return given?.text != null && axes(given.text) ? given.text : undefined
  }

  name(place: string): string {
    const own = nodeName(this.index, this.node)
    if (place === 'result') return own === this.node.type ? '' : own
    const value = this.of(place)
    if (value === undefined) return ''
    if (typeof value === 'string') return axes(value)!.map(formatNumber).join(', ')
    const name = tensorName(this.index, value)
    return name === value.id || name === own ? '' : name
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

/** How PyTorch prints an axis −1 that it keeps without sign. */
const UNSIGNED_MINUS_ONE = '18446744073709551615'

/** The numbers of `2.5`, `-1` or `(0, 1)`; null of other texts. */
function axes(text: string): number[] | null {
  const parts = text.replace(/^[([]|[)\]]$/g, '').replace(/,$/, '').split(',')
  const numbers = parts.map((part) => (part.trim() === UNSIGNED_MINUS_ONE ? -1 : Number(part.trim() || NaN)))
  return numbers.every(Number.isFinite) ? numbers : null
}

/** A value as it is written, and the same to compute with; an ellipsis is NaN, so that nothing is made of it. */
interface Written {
  mathml: string
  texts: readonly string[]
  grid: Grid
}

function grid(shape: readonly number[], texts: readonly string[]): Grid {
  return { shape, values: texts.map(readNumber) }
}

function readNumber(text: string): number {
  if (text === 'True' || text === 'False') return Number(text === 'True')
  return Number(text.replaceAll(MINUS, '-').replace('Inf', 'Infinity'))
}

/** A small tensor or a few numbers; null for a tensor too large to write out. */
function written(value: Value, gradient: boolean): Written | null {
  const colour = gradient ? ' class="gradient"' : ''
  const number = (text: string): string => `<mn${colour}>${escape(text)}</mn>`
  if (typeof value === 'string') {
    const texts = axes(value)!.map(formatNumber)
    return { mathml: number(texts.join(', ')), texts, grid: grid(texts.length === 1 ? [] : [texts.length], texts) }
  }
  const shown = display(value)
  if (shown.kind === 'number' || (shown.kind === 'word' && value.shape.length === 0))
    return { mathml: number(shown.text), texts: [shown.text], grid: grid([], [shown.text]) }
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
function bracketed({ mathml, texts: [text = ''], grid }: Written, name: string): string {
  const bare = name === 'dim' || grid.shape.length > 0 || !(text.startsWith(MINUS) || /\de/.test(text))
  return bare ? mathml : `<mrow><mo>(</mo>${mathml}<mo>)</mo></mrow>`
}

/** The slot's formula with numbers, and what it came to; null unless what is written holds. */
function withNumbers(slot: RuleSlot, values: Values, rule: Rule): string | null {
  const left = values.left(slot, rule)
  const result = left && written(left, true)
  if (!result) return null
  const places = new Map<string, Written | null>()
  const at = (name: string): Written | null => {
    if (!places.has(name)) {
      const value = values.of(name, left)
      places.set(name, value === undefined ? null : written(value, name === 'g'))
    }
    return places.get(name)!
  }
  const reduction = values.reduction(slot, rule)
  const whole = reduction?.shape ?? result.grid.shape
  const computed = evaluate(slot.terms, (name) => at(name)?.grid ?? null, whole)
  const equals = computed && sign(reduction ? sum(computed, reduction.axes) : computed, result)
  if (!equals) return null
  const filled = slot.mathml.replace(PLACE, (letter, name: string) => {
    const value = name === CONSTANT ? null : at(name)
    return value ? (slot.terms === name ? value.mathml : bracketed(value, name)) : letter
  })
  return math(`<mrow>${summed(filled, reduction)}<mo>${equals}</mo>${result.mathml}</mrow>`)
}

const CLOSE = 0.01

/** `=` where the written numbers come to the written result, `≈` where only their rounding keeps them apart. */
function sign(computed: Grid | null, { texts, grid }: Written): '=' | '≈' | null {
  if (!computed || count(computed.shape) !== texts.length || !alike(computed.shape, grid.shape)) return null
  const same = computed.values.map((value, at) =>
    Number.isNaN(value) ? texts[at] === 'NaN' || texts[at] === '…' : formatNumber(value) === texts[at],
  )
  if (same.every(Boolean)) return '='
  const close = computed.values.every(
    (value, at) => same[at] || Math.abs(value - grid.values[at]!) <= CLOSE * Math.abs(grid.values[at]!),
  )
  return close ? '≈' : null
}

/** The same shape, apart from leading axes of one element. */
function alike(a: readonly number[], b: readonly number[]): boolean {
  const bare = (shape: readonly number[]): string => [1, ...shape].join().replace(/^1(,1)*(,|$)/, '')
  return bare(a) === bare(b)
}
