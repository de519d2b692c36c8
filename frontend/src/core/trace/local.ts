// The local derivatives of a node at one element: by what it multiplied the numbers that arrived, of which that element
// is the sum. Only where they are known, and the recorded numbers agree with them.

import type { Node, Tensor, Visit } from '../../api/types'
import { usesOf } from '../ops/cells'
import { originsOf } from '../ops/origins'
import { flat, positions, stretchedFrom } from '../ops/places'
import { formatNumber, MINUS, asTerm, wireNumber } from '../words/format'
import { axesOf, pieceOf, sourcesOf } from './moves'
import { elements } from './naming'
import type { TraceIndex } from './trace-index'

export interface Local {
  value: number
  /** As one writes it: `2·3`, `¼`. */
  text: string
  /** The element of the gradient that arrived. */
  from: number
  /** At which result of the node, where it has several. */
  output?: number
}

/** One visit and the slot that is asked about. */
interface Place {
  index: TraceIndex
  node: Node
  entered: Tensor
  slot: number
}

/** The text of a factor that 0 was multiplied by, which the numbers don't tell. */
export const UNKNOWN = '…'

/** How far a product may be from the recorded number, by the precision it was computed in. */
const CLOSE: Readonly<Record<string, number>> = { float64: 1e-9, float32: 1e-4, float16: 4e-3, bfloat16: 3e-2 }

/** One element of a recorded tensor; null where its values were not kept. */
export function element(tensor: Tensor | undefined, at: number): number | null {
  const value = tensor?.dtype.startsWith('complex') ? undefined : tensor?.data?.[at]
  return value === undefined ? null : wireNumber(value)
}

/** Which element is the farthest from 0, or not a number; the first one where the values were not kept. */
export function largestAt(tensor: Tensor | undefined): number {
  const sizes = (tensor?.data ?? []).map((value) => Math.abs(wireNumber(value)))
  return Math.max(0, sizes.findIndex(Number.isNaN), sizes.indexOf(Math.max(...sizes)))
}

/** Whether numbers of a type have so few digits that one sees their rounding. */
export function isShort(dtype: string): boolean {
  return precision(dtype) > precision('float32')
}

export function precision(dtype: string): number {
  return CLOSE[dtype] ?? 0
}

/** Whether a number is the sum of the parts but for the rounding of a type. */
export function isSumOf(parts: readonly number[], made: number, dtype: string): boolean {
  const [sum, size] = [parts.reduce((a, b) => a + b, 0), parts.reduce((a, b) => a + Math.abs(b), 0)]
  return Object.is(sum, made) || Math.abs(sum - made) <= precision(dtype) * Math.max(size, Math.abs(made))
}

/** What an element of what a node sent is the sum of: each element of what arrived that it depends on, and by what the
 *  node multiplied that; none for one that the op did not read. Null where this is not known. */
export function localsAt(index: TraceIndex, visit: Visit, slot: number, cell: number): Local[] | null {
  const node = index.node(visit.node)
  const left = index.tensor(visit.left[slot])
  const sent = element(left, cell)
  if (!node || !left || sent === null) return null
  const piece = pieceOf(node, left.shape, cell)
  const output = piece?.output ?? 0
  const entered = index.tensor(visit.entered[output])
  if (piece && !entered) return sent === 0 ? [] : null
  if (!entered || (!piece && visit.entered.slice(1).some((other) => other !== null))) return null
  const place = { index, node, entered, slot }
  const isReduced = visit.reduced?.some((reduced) => reduced.slot === slot)
  const found = piece ? [{ ...plain(1), from: piece.place(entered.shape), output }]
    : isReduced ? stretched(place, left, cell)
    : products(place, left, cell) ?? moved(place, left, cell) ?? mixed(place, left, cell) ??
      single(place, left, cell, sent) ?? copies(place, left, cell)
  const parts = found?.map(({ from, value }) => (element(entered, from) ?? NaN) * value) ?? []
  return isSumOf(parts, sent, left.dtype) ? found : null
}

function moved({ node, entered }: Place, left: Tensor, cell: number): Local[] | null {
  return sourcesOf(node, left.shape, entered.shape, cell)?.map((from) => ({ ...plain(1), from })) ?? null
}

/** Of a softmax, or its logarithm: each element of a row depends on all of it. */
function mixed(place: Place, left: Tensor, cell: number): Local[] | null {
  const { node, entered } = place
  const isLog = node.type === 'LogSoftmaxBackward0'
  if (!isLog && node.type !== 'SoftmaxBackward0') return null
  const [axis = 0] = axesOf(node, 'dim', left.shape.length) ?? []
  const at = positions(left.shape, cell)
  const probability = (cell: number): number => {
    const kept = savedAt(place, 'result', cell) ?? NaN
    return isLog ? Math.exp(kept) : kept
  }
  const own = probability(cell)
  const remaining = { value: 1 - own, text: `(1 ${MINUS} ${formatNumber(own)})` }
  return eachKnown(Array.from({ length: entered.shape[axis] ?? 1 }, (_, turn) => {
    const from = flat(entered.shape, at.with(axis, turn))
    const met = from === cell ? remaining : plain(-own)
    if (isLog) return withPlace(met, from)
    const other = probability(from)
    const text = from === cell ? met.text : asTerm(met.text)
    return withPlace({ value: other * met.value, text: `${term(other)}·${text}` }, from)
  }))
}

/** The one element that an element was made of. */
function single(place: Place, left: Tensor, cell: number, sent: number): Local[] | null {
  const from = source(place, left, cell)
  const arrived = element(place.entered, from ?? -1)
  const isKnown = from !== null && arrived !== null
  const factor = isKnown ? (shareOfNorm(place, from, cell) ?? factorAt(place, from, arrived, sent)) : null
  return factor ? [{ ...factor, from: from! }] : null
}

/** The elements of the result that an op copied an element to which picks some; null for another op. */
function copies({ index, node }: Place, left: Tensor, cell: number): Local[] | null {
  const op = index.op(node.op)
  if (!op?.reads?.length || op.nodes?.length !== 1) return null
  const origins = originsOf(op, (id) => index.tensor(id))
  const [input, ...others] = new Set(op.reads.map((read) => read.input))
  if (!origins || others.length > 0 || index.tensor(op.inputs[input!])?.shape.join() !== left.shape.join()) return null
  return usesOf(origins, input!, cell).flatMap(({ source, made }) =>
    source.output === 0 && !source.position ? [{ ...plain(1), from: made }] : [])
}

/** The elements that broadcasting had made of one. */
function stretched(place: Place, left: Tensor, cell: number): Local[] | null {
  const { shape } = place.entered
  const all = Array.from({ length: elements(place.entered) }, (_, from) => from)
  const from = all.filter((from) => stretchedFrom(left.shape, shape, from) === cell)
  return eachKnown(from.map((from) => withPlace(factorAt(place, from, NaN, NaN), from)))
}

/** By the node: the slot of its left factor, and where it kept the left and the right one. */
const PRODUCTS: Readonly<Record<string, readonly [number, string, string]>> = {
  MmBackward0: [0, 'self', 'mat2'], BmmBackward0: [0, 'self', 'mat2'], MvBackward0: [0, 'self', 'vec'],
  DotBackward0: [0, 'self', 'tensor'], AddmmBackward0: [1, 'mat1', 'mat2'],
}

/** Of a product of matrices or vectors `Y = A B`: an element of A met a row of B, one of B a column of A. Null for
 *  other nodes. */
function products(place: Place, left: Tensor, cell: number): Local[] | null {
  const { index, node, entered, slot } = place
  const [first, a, b] = PRODUCTS[node.type] ?? [Infinity, '', '']
  if (slot < first) return null
  const isLeft = slot === first
  const other = index.tensor(node.saved?.find(({ field }) => field === (isLeft ? b : a))?.tensor)
  if (!other) return null
  const [own, at] = [left.shape, positions(left.shape, cell)]
  const isVector = own.length === 1
  const batch = at.slice(0, Math.max(0, own.length - 2))
  // Of A the row stays and the column is summed over, of B the other way round.
  const kept = isVector ? [] : [at.at(isLeft ? -2 : -1)!]
  const inner = at.at(isLeft || isVector ? -1 : -2)!
  const count = other.shape.length === 1 ? null : other.shape.at(isLeft ? -1 : -2)!
  const turns = count === null ? [[]] : Array.from({ length: count }, (_, turn) => [turn])
  const alpha = savedAt(place, 'alpha', 0) ?? 1
  return eachKnown(turns.map((turn) => {
    const met = element(other, flat(other.shape, [...batch, ...isLeft ? [inner, ...turn] : [...turn, inner]]))
    const from = flat(entered.shape, [...batch, ...isLeft ? [...kept, ...turn] : [...turn, ...kept]])
    return withPlace(met === null ? null : plain(alpha * met), from)
  }))
}

function withPlace(factor: Factor | null, from: number): Local | null {
  return factor && Number.isFinite(factor.value) ? { ...factor, from } : null
}

function eachKnown(locals: readonly (Local | null)[]): Local[] | null {
  return locals.every((local) => local !== null) ? [...locals] : null
}

/** By what a node multiplied an element of what arrived, for a slot whose gradient was then summed over the axes that
 *  broadcasting had stretched. */
export function slopeAt(index: TraceIndex, visit: Visit, slot: number, from: number): number | null {
  const node = index.node(visit.node)
  const entered = index.tensor(visit.entered[0])
  const arrived = element(entered, from)
  if (!node || !entered || arrived === null) return null
  const factor = factorAt({ index, node, entered, slot }, from, arrived, NaN)
  return factor && Number.isFinite(factor.value) ? factor.value : null
}

const KEEPS_ORDER = /^(View|UnsafeView|ReshapeAlias|Unsqueeze|Squeeze|Clone|ToCopy|Alias)Backward\d$/
const JOINS = /^(Cat|Stack)Backward0$/
const SPREADS = /^(Sum|Mean|LinalgVectorNorm|Prod|Logsumexp|Std|Var|Max|Min|Amax|Amin|Median|Nanmedian|Trace|\w*Loss|BinaryCrossEntropy\w*|KlDiv)Backward\d$/

/** The element of what arrived that an element of what was sent was made of. */
function source({ index, node, entered, slot }: Place, left: Tensor, cell: number): number | null {
  const { shape } = left
  if (SPREADS.test(node.type)) return kept(entered, shape, cell, axesOf(node, 'dim', shape.length))
  if (JOINS.test(node.type)) {
    const axis = axesOf(node, 'dim', entered.shape.length)?.[0]
    if (axis === undefined) return null
    const at = positions(shape, cell)
    if (node.type === 'StackBackward0') return flat(entered.shape, at.toSpliced(axis, 0, slot))
    const before = index.op(node.op)?.inputs.slice(0, slot).map((id) => index.tensor(id)?.shape[axis] ?? NaN) ?? [NaN]
    const place = before.reduce((sum, size) => sum + size, at[axis]!)
    return place >= 0 ? flat(entered.shape, at.with(axis, place)) : null
  }
  if (KEEPS_ORDER.test(node.type)) return elements(entered) === elements(left) ? cell : null
  return entered.shape.join() === shape.join() ? cell : null
}

/** Where an element went in a sum over axes, over all of them when none is named. */
function kept(entered: Tensor, shape: readonly number[], cell: number, axes: readonly number[] | undefined): number {
  if (elements(entered) === 1) return 0
  const at = positions(shape, cell)
  const stays = shape.map((_, axis) => axis).filter((axis) => !axes?.includes(axis))
  return flat(stays.map((axis) => shape[axis]!), stays.map((axis) => at[axis]!))
}

type Factor = Pick<Local, 'value' | 'text'>

/** A number in a product: one below 0 in brackets. */
function term(value: number): string {
  return asTerm(formatNumber(value))
}

function plain(value: number): Factor {
  return { value, text: formatNumber(value) }
}

const FRACTIONS: Readonly<Record<number, string>> = { 2: '½', 3: '⅓', 4: '¼', 5: '⅕', 6: '⅙', 8: '⅛' }

function share(n: number): Factor {
  return { value: 1 / n, text: n === 1 ? '1' : (FRACTIONS[n] ?? `1/${term(n)}`) }
}

/** `2·3` for the square at 3, `3·2²` for the cube at 2. */
function power(exponent: number, base: number): Factor {
  const value = exponent * base ** (exponent - 1)
  const raised = { 2: '', 3: '²', 4: '³' }[exponent]
  if (raised === undefined) return plain(value)
  return { value, text: `${formatNumber(exponent)}·${term(base)}${raised}` }
}

const SAME = /^(Neg|Sum|Cat|Stack)Backward\d$/
/** Nodes that multiply each element by a slope that only that element decides. */
const SLOPES =
  /^(Exp|Exp2|Expm1|Log|Log1P|Log2|Log10|Logit|Sqrt|Rsqrt|Sin|Cos|Tan|Sinh|Cosh|Tanh|Asin|Acos|Atan|Asinh|Acosh|Atanh|Sigmoid|LogSigmoid|Softplus|Relu|LeakyRelu|Elu|Celu|Gelu|Silu|Mish|Hardtanh|Hardsigmoid|Hardswish|Abs|Clamp|ClampMin|ClampMax|Reciprocal|Erf|Erfc|Lgamma|Dropout|NativeDropout|Prod|Logsumexp|Std|Var|Max|Min|Amax|Amin|Median|Nanmedian|Trace)Backward\d$/
/** The same of several operands. */
const SLOPES_OF_SEVERAL = /^(\w*Loss|BinaryCrossEntropy\w*|KlDiv|Lerp|Xlogy|Addcmul|Addcdiv|Logaddexp|Logaddexp2|Atan2|Hypot|Fmod|Remainder|Fmax|Fmin)Backward\d$/

/** What a node that works element by element multiplies by; null for one that is not known to. */
function factorAt(place: Place, from: number, arrived: number, sent: number): Factor | null {
  const { node, slot } = place
  const other = (field: string): number | null => savedAt(place, field, from)
  const kind = node.type.replace(/Backward\d+$/, '')
  const of = (value: number | null, factor: (value: number) => Factor): Factor | null =>
    value === null ? null : factor(value)
  const sign = kind === 'Neg' || (kind === 'Sub' && slot === 1) || (kind === 'Rsub' && slot === 0) ? -1 : 1
  switch (kind) {
    case 'Add':
    case 'Sub':
    case 'Rsub':
      return slot === (kind === 'Rsub' ? 0 : 1) ? of(other('alpha') ?? 1, (alpha) => plain(sign * alpha)) : plain(1)
    case 'Addmm':
      return slot === 0 ? of(other('beta') ?? 1, plain) : null
    case 'Mul':
      return of(other(slot === 0 ? 'other' : 'self'), plain)
    case 'Div':
      return of(other('other'), (below) =>
        slot === 0 ? share(below) : of(other('self'), (above) => quotient(above, below)) ?? plain(NaN))
    case 'Pow': // of `2 ** x` the exponent alone is a tensor
      return slot === 0 && node.type !== 'PowBackward2'
        ? of(other('exponent'), (exponent) => of(other('self'), (base) => power(exponent, base)) ?? plain(NaN))
        : of(other('result'), (result) => of(other('self'), (base) => logarithm(base, result)) ?? plain(NaN))
    case 'Where':
      return of(other('condition'), (isFirst) => plain(isFirst === 1 - slot ? 1 : 0))
    case 'MaskedFill':
      return of(other('mask'), (isFilled) => plain(isFilled === slot ? 1 : 0))
    case 'Maximum':
    case 'Minimum':
      return of(other('self'), (one) =>
        of(other('other'), (two) => chosen(kind === 'Maximum' ? one - two : two - one, slot)) ?? plain(NaN))
    case 'Sqrt': // of 0 the slope is infinite, and what arrived may be 0
      if (other('result') === 0) return { value: Infinity, text: '1/(2·0)' }
      break
    case 'Mean': {
      const n = other('self_sym_numel')
      return n === null ? null : share(n / elements(place.entered))
    }
  }
  if ([SAME, KEEPS_ORDER].some((kind) => kind.test(node.type))) return plain(sign)
  const isKnown = SLOPES_OF_SEVERAL.test(node.type) || (SLOPES.test(node.type) && slot === 0)
  if (!isKnown) return null
  if (arrived === 0 && sent === 0) return { value: 0, text: UNKNOWN }
  const slope = arrived === 0 ? NaN : sent / arrived
  return Number.isNaN(slope) ? null : plain(slope)
}

/** The slope of `bᵏ` in k. */
function logarithm(base: number, result: number): Factor {
  return { value: result * Math.log(base), text: `${term(result)}·ln ${term(base)}` }
}

/** What the greater of two is multiplied by, or the less; two equals share. */
function chosen(ahead: number, slot: number): Factor {
  return ahead === 0 ? share(2) : plain(ahead > 0 === (slot === 0) ? 1 : 0)
}

/** The slope of a Euclidean norm in one element: `3/5`. */
function shareOfNorm(place: Place, from: number, cell: number): Factor | null {
  const { node, index } = place
  const saved = (field: string) => node.saved?.find((kept) => kept.field === field)
  if (node.type !== 'LinalgVectorNormBackward0' || Number(saved('ord')?.text) !== 2) return null
  const [above, below] = [element(index.tensor(saved('self')?.tensor), cell), savedAt(place, 'result', from)]
  return above && below ? { value: above / below, text: `${term(above)}/${term(below)}` } : null
}

/** The slope of `a / b` in b. */
function quotient(above: number, below: number): Factor {
  return { value: -above / below ** 2, text: `${MINUS}${term(above)}/${term(below)}²`.replaceAll('+', '') }
}

/** A number the node kept, at the place that an element of the result had in it after broadcasting. */
function savedAt({ index, node, entered }: Place, field: string, from: number): number | null {
  const saved = node.saved?.find((kept) => kept.field === field)
  const tensor = index.tensor(saved?.tensor)
  if (!tensor) return saved?.text == null || !Number.isFinite(Number(saved.text)) ? null : Number(saved.text)
  return element(tensor, stretchedFrom(tensor.shape, entered.shape, from))
}
