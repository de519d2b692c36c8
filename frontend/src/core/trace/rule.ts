// A derivative rule beside one visit: in letters that the program leaves free, and with the numbers that were there.

import type { Node, Reduction, Tensor } from '../../api/types'
import { evaluate, sum, type Grid } from '../ops/formula'
import { count } from '../ops/places'
import type { Rule, RuleSlot, Terms } from '../rules'
import { signBetween } from '../words/equation'
import { nameOf } from './naming'
import { CONSTANT, lettered, lettersFor, PLACE, place, type Letters } from './rule-letters'
import { numbersOf } from './saved-numbers'
import { bracketed, Values, written, type Written } from './rule-values'
import type { TraceIndex, VisitAt } from './trace-index'

export interface RuleShown {
  /** What the op computed. */
  forward: string
  /** What the letters stand for here: `a = y`, `b = 3`. */
  stands: readonly { letter: string; name: string }[]
  /** `numbers` is null where they are too many, or don't make the equation true as they are written. */
  slots: readonly { name: string; formula: string; numbers: string | null }[]
}

/** What is said of a node by its rule; the numbers only once it was visited. Numbers by themselves are multiplied by a
 *  point, elements of tensors by a ring around one. */
export function ruleShown(index: TraceIndex, rule: Rule, node: Node, at: VisitAt, visited: boolean): RuleShown {
  const values = new Values(index, node, at)
  const letters = withLoss(index, values, lettersFor(index, rule, index.op(node.op)?.window ?? null))
  const isNamed = node.edges.some((edge) => edge.name)
  const slots = slotsOf(index, rule, node)
  const needed = slots.filter(({ name }, at) => {
    const unnamed = slots.length === node.edges.length ? node.edges[at] : undefined
    const edge = isNamed ? node.edges.find((each) => each.name === name) : unnamed
    return edge ? edge.to !== null : !isNamed
  })
  const isScalar = [...at.visit.entered, ...at.visit.left].every((id) => !index.tensor(id)?.shape.length)
  const pointed = (mathml: string): string => (isScalar ? mathml.replaceAll('>⊙<', '>·<') : mathml)
  return {
    forward: pointed(math(lettered(rule.forward_mathml, letters))),
    stands: standing(index, values, letters),
    slots: needed.map((slot) => ({
      name: slot.name,
      formula: pointed(math(
        `<mrow>${partial(letters.loss, letterOf(slot, letters))}${equal('=', summed(
          lettered(slot.mathml, letters), values.reduction(slot, rule),
        ))}</mrow>`,
      )),
      numbers: pointed((visited && withNumbers(slot, values, rule)) || '') || null,
    })),
  }
}

/** How many of a list of tensors have a formula each. */
const MOST_LISTED = 6

/** The slots of a rule; of one for a list of tensors that of each, which says where it lies among them. */
function slotsOf(index: TraceIndex, rule: Rule, node: Node): RuleSlot[] {
  const { op: id, edges } = node
  return rule.slots.flatMap((slot) => {
    const listed = edges.filter(({ name }) => name?.startsWith(`${slot.name}[`))
    if (!listed.length) return slot
    const [along = 0] = numbersOf(node, 'dim') ?? []
    const sizes = index.op(id)?.inputs.map((input) => index.tensor(input)?.shape.at(along) ?? NaN) ?? []
    return listed.slice(0, MOST_LISTED).map((edge) => {
      const at = edges.indexOf(edge)
      const before = sizes.slice(0, at).reduce((sum, size) => sum + size, 0)
      const numbers = rule.id === 'stack' ? { start: at } : { start: before, end: before + (sizes[at] ?? NaN) }
      return Object.entries(numbers).reduce(filled, { ...slot, name: edge.name! })
    })
  })
}

/** A slot with a number in one of its places. */
function filled(slot: RuleSlot, [name, number]: [string, number]): RuleSlot {
  const put = (terms: Terms): Terms => Array.isArray(terms) ? terms.map(put) : terms === name ? number : terms
  return {
    ...slot, terms: put(slot.terms),
    mathml: slot.mathml.replace(PLACE, (whole, at: string) => (at === name ? `<mn>${number}</mn>` : whole)),
  }
}

/** The letter of what a slot leads to: `x₁` of `tensors[1]`, which the rule writes as `xᵢ`. */
function letterOf(slot: RuleSlot, letters: Letters): string {
  const [name = '', number = ''] = slot.name.split(/[[\]]/)
  const below = number.replace(/\d/g, (digit) => '₀₁₂₃₄₅₆₇₈₉'[Number(digit)]!)
  return lettered(place({ ...slot, name }), letters).replace('ᵢ', below)
}

function math(inner: string): string {
  return `<math display="inline" displaystyle="true">${inner}</math>`
}

/** A sign stays with what follows it where a line breaks. */
function equal(sign: '=' | '≈', right: string): string {
  return `<mrow><mo form="infix">${sign}</mo>${right}</mrow>`
}

function partial(loss: string, letter: string): string {
  return `<mfrac><mrow><mo>∂</mo><mi>${loss}</mi></mrow><mrow><mo>∂</mo>${letter}</mrow></mfrac>`
}

/** The sum over broadcast axes that the engine makes on the edge. */
function summed(formula: string, reduction: Reduction | undefined): string {
  if (!reduction) return formula
  const over = `<munder><mo>∑</mo><mn>${reduction.axes.join(', ')}</mn></munder>`
  return `<mrow>${over}<mrow class="brackets"><mo>(</mo>${formula}<mo>)</mo></mrow></mrow>`
}

/** What the pass began at, where that is one tensor. */
function lossOf(index: TraceIndex, { at: { pass: { roots } } }: Values): Tensor | undefined {
  return roots.length === 1 ? index.tensor(roots[0]?.tensor) : undefined
}

/** The letters, that of the loss for what the rule says of it too. */
function withLoss(index: TraceIndex, values: Values, letters: Letters): Letters {
  const id = lossOf(index, values)?.id
  const isLoss = (value: Tensor | string | undefined): boolean => typeof value === 'object' && value.id === id
  const own = [...letters.of].map(([place, letter]) =>
    [place, place !== 'g' && isLoss(values.of(place)) ? letters.loss : letter] as const)
  return { ...letters, of: new Map(own) }
}

function standing(index: TraceIndex, values: Values, { of, loss }: Letters): { letter: string; name: string }[] {
  const found = [...of]
    .flatMap(([place, letter]) => {
      const name = place === 'g' ? '' : values.name(place)
      return name ? [{ letter, name }] : []
    })
    .sort((a, b) => a.letter.localeCompare(b.letter))
  const name = nameOf(index, lossOf(index, values))
  return name && !found.some(({ letter }) => letter === loss) ? [...found, { letter: loss, name }] : found
}

/** Whether none of a rule's formulas is undefined where PyTorch sends a number, as 0/0 is. */
export function isDefined(index: TraceIndex, rule: Rule, node: Node, at: VisitAt): boolean {
  const values = new Values(index, node, at)
  return rule.slots.every((slot) => {
    const { computed, result, at } = worked(slot, values, rule) ?? {}
    const places = [...slot.mathml.matchAll(PLACE)].map(([, name]) => (name === CONSTANT ? null : at?.(name!)))
    const isKnown = places.every((place) => !place?.grid.values.some((value) => Number.isNaN(value)))
    return !isKnown || !computed?.values.some((value, at) => Number.isNaN(value) && result!.texts[at] !== 'NaN')
  })
}

interface Worked {
  computed: Grid | null
  /** What was sent. */
  result: Written
  at: (name: string) => Written | null
}

/** The slot's formula worked out with the numbers of the visit, as they are written with so many digits. */
function worked(slot: RuleSlot, values: Values, rule: Rule, digits = 4): Worked | null {
  const left = values.left(slot, rule)
  const result = left && written(left, true)
  if (!result) return null
  const places = new Map<string, Written | null>()
  const at = (name: string): Written | null => {
    if (!places.has(name)) {
      const value = values.of(name, left)
      places.set(name, value === undefined ? null : written(value, name === 'g', digits))
    }
    return places.get(name)!
  }
  const reduction = values.reduction(slot, rule)
  const whole = reduction?.shape ?? result.grid.shape
  const computed = evaluate(slot.terms, (name) => at(name)?.grid ?? null, whole)
  return { computed: computed && reduction ? sum(computed, reduction.axes) : computed, result, at }
}

/** Digits of numbers in an equation where fewer come to another result. */
const MORE_DIGITS = [6, 8] as const

/** The slot's formula with numbers, and what it came to; null unless what is written holds. */
function withNumbers(slot: RuleSlot, values: Values, rule: Rule): string | null {
  const short = worked(slot, values, rule)
  const exact = (): Worked | null | undefined =>
    MORE_DIGITS.map((digits) => worked(slot, values, rule, digits)).find(isNear)
  const { computed = null, result, at } = (isNear(short) ? short : exact() ?? short) ?? {}
  const equals = computed && sign(computed, result!)
  if (!equals) return null
  const filled = slot.mathml.replace(PLACE, (letter, name: string) => {
    const value = name === CONSTANT ? null : at!(name)
    return value ? (slot.terms === name ? value.mathml : bracketed(value, name)) : letter
  })
  const left = summed(filled, values.reduction(slot, rule))
  return math(`<mrow>${left}${equal(equals, result!.mathml)}</mrow>`)
}

/** Whether what is written comes as near to the result as a reader expects. */
function isNear(one: Worked | null): boolean {
  return one?.computed?.values.every((value, at) => {
    const right = one.result.grid.values[at]!
    return Object.is(value, right) || Math.abs(value - right) <= NEAR * Math.abs(right)
  }) ?? false
}

/** Parts of a value that written numbers may be off: those that stand as written, those a sum leaves out. */
const CLOSE = 0.01
const NEAR = 0.001

/** `=` where the written numbers come to the written result, `≈` where only their rounding keeps them apart. */
function sign(computed: Grid | null, { texts, grid }: Written): '=' | '≈' | null {
  if (!computed || count(computed.shape) !== texts.length || !alike(computed.shape, grid.shape)) return null
  const signs = computed.values.map((value, at) => {
    const right = grid.values[at]!
    // Complex numbers, and those nobody recorded, are written but not worked with.
    if (Number.isNaN(value)) return texts[at] === 'NaN' || texts[at] === '…' ? '=' : null
    return signBetween(value, right, CLOSE * Math.abs(right))
  })
  return signs.includes(null) ? null : signs.includes('≈') ? '≈' : '='
}

/** The same shape, apart from leading axes of one element. */
function alike(a: readonly number[], b: readonly number[]): boolean {
  const bare = (shape: readonly number[]): string => [1, ...shape].join().replace(/^1(,1)*(,|$)/, '')
  return bare(a) === bare(b)
}
