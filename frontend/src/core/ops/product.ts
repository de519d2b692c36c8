// Matrix products as rows times columns: which matrices an op multiplied, and how one cell of the result came about.

import type { Op, Tensor } from '../../api/types'
import { formatNumber, wireNumber } from '../words/format'
import { brackets, count, placeable, positions } from './places'
import { written } from './terms'

/** One factor or the result as a matrix: a vector is a row on the left and a column on the right; of a batch the
 *  first. */
export interface Matrix {
  tensor: Tensor
  rows: number
  columns: number
  /** Written in the other direction than it is stored: the weight of a linear layer. */
  turned: boolean
  /** Row by row; null where the trace has no numbers. */
  values: readonly number[] | null
}

export interface Product {
  left: Matrix
  right: Matrix
  /** Null when the call raised. */
  result: Matrix | null
  /** What is added to every row: the bias of a linear layer, the first argument of `addmm`. */
  added: Tensor | null
  /** How many products the op made; more than one in a batch. */
  batch: number
  /** How many axes the factors must have, when one of them has another number. */
  needs: readonly [number, number] | null
}

/** Which inputs are the factors, and which one is added. */
/** `axes`: how many each factor must have. */
const PLACES: Readonly<
  Record<string, { left: number; right: number; added?: number; turned?: boolean; axes?: readonly [number, number] }>
> = {
  matmul: { left: 0, right: 1 },
  mm: { left: 0, right: 1, axes: [2, 2] },
  mv: { left: 0, right: 1, axes: [2, 1] },
  dot: { left: 0, right: 1, axes: [1, 1] },
  vdot: { left: 0, right: 1, axes: [1, 1] },
  bmm: { left: 0, right: 1, axes: [3, 3] },
  addmm: { left: 1, right: 2, added: 0, axes: [2, 2] },
  linear: { left: 0, right: 1, added: 2, turned: true },
}

export function isProduct(op: Op): boolean {
  return op.name in PLACES
}

/** The product an op made; null for other ops. `tensor` looks a record up. */
export function productOf(op: Op, tensor: (id: string | undefined) => Tensor | undefined): Product | null {
  const places = PLACES[op.name]
  const [first, second] = [tensor(op.inputs[places?.left ?? -1]), tensor(op.inputs[places?.right ?? -1])]
  if (!places || !first || !second || first.shape.length === 0 || second.shape.length === 0) return null
  if (op.arguments.some((argument) => argument.name === 'alpha' || argument.name === 'beta')) return null
  const left = matrix(first, 'row', false)
  const right = matrix(second, 'column', places.turned ?? false)
  const made = tensor(op.outputs[0])
  const result = made && !op.raised && left.columns === right.rows ? shaped(made, left.rows, right.columns) : null
  const { axes } = places
  const needs = axes && (first.shape.length !== axes[0] || second.shape.length !== axes[1]) ? axes : null
  const batch = result ? Math.max(1, count(made!.shape) / Math.max(1, left.rows * right.columns)) : 1
  return {
    left, right, result, added: places.added === undefined ? null : (tensor(op.inputs[places.added]) ?? null), batch,
    needs,
  }
}

function matrix(tensor: Tensor, as: 'row' | 'column', turned: boolean): Matrix {
  const { shape } = tensor
  const last = shape[shape.length - 1]!
  const [rows, columns] = shape.length > 1 ? [shape[shape.length - 2]!, last] : as === 'row' ? [1, last] : [last, 1]
  const plain = shaped(tensor, rows, columns)
  if (!turned || shape.length < 2) return plain
  const values =
    plain.values &&
    Array.from({ length: rows * columns }, (_, at) => plain.values![(at % rows) * columns + Math.floor(at / rows)]!)
  return { tensor, rows: columns, columns: rows, turned, values }
}

function shaped(tensor: Tensor, rows: number, columns: number): Matrix {
  const whole = tensor.data && tensor.data.length >= rows * columns && !tensor.dtype.startsWith('complex')
  return {
    tensor, rows, columns, turned: false,
    values: whole ? tensor.data!.slice(0, rows * columns).map(wireNumber) : null,
  }
}

/** A matrix as it is drawn, row by row: its numbers as text, or nothing in its cells. */
export interface Drawn {
  rows: number
  columns: number
  texts: readonly string[]
}

/** Both factors and the result; of the axis that is summed over, where it is longer, so many of the first and the
 *  last. */
export function drawnOf({ left, right, result }: Product, first = Infinity): [Drawn, Drawn, Drawn] {
  const n = left.columns
  const all = Array.from({ length: n }, (_, at) => at)
  const inner = n > first + 2 ? [...all.slice(0, first), -1, n - 1] : all
  const drawn = ({ values, columns }: Matrix, across: readonly number[], down: readonly number[]): Drawn => ({
    rows: down.length, columns: across.length,
    texts: values
      ? down.flatMap((row) => across.map((at) => (row < 0 || at < 0 ? '…' : formatNumber(values[row * columns + at]!))))
      : [],
  })
  const [rows, columns] = [left.rows, right.columns].map((size) => Array.from({ length: size }, (_, at) => at))
  return [drawn(left, inner, rows!), drawn(right, columns!, inner), drawn(result!, columns!, rows!)]
}

/** `y[0][1]`, as the program would write one cell of the result; `(a @ b)[0]` where that has no name. */
export function cellName({ tensor, columns }: Matrix, name: string, row: number, column: number): string {
  const at = brackets(positions(tensor.shape, row * columns + column))
  return at ? `${placeable(name)}${at}` : name
}

/** `1·4 + 2·5 + 3·6 = 32` for one cell; null where the numbers are missing or don't come to the result. */
export function termsOf(product: Product, row: number, column: number): string | null {
  const { left, right, result, added } = product
  if (!left.values || !right.values || !result?.values || left.columns === 0) return null
  const factors = Array.from(
    { length: left.columns },
    (_, at) => [left.values![row * left.columns + at]!, right.values![at * right.columns + column]!] as const,
  )
  const extra = addedTo(added, row, column, result)
  if (added && extra === null) return null
  const terms = [...factors, ...(extra === null ? [] : [[extra] as const])]
  return written('sum', terms, result.values[row * result.columns + column]!)
}

/** What is added to a cell: the added tensor is stretched to the result as broadcasting does. */
function addedTo(added: Tensor | null, row: number, column: number, result: Matrix): number | null {
  if (!added?.data) return null
  const columns = added.shape[added.shape.length - 1] ?? 1
  const rows = added.shape.length > 1 ? added.shape[added.shape.length - 2]! : 1
  if (added.shape.length > 2 || (columns !== 1 && columns !== result.columns) || (rows !== 1 && rows !== result.rows))
    return null
  const value = added.data[(rows === 1 ? 0 : row) * columns + (columns === 1 ? 0 : column)]
  return value === undefined ? null : wireNumber(value)
}
