// Jacobians as tables: rows of outputs, columns of inputs, and the vector a backward pass multiplies them with.

import type { Jacobian, Tensor } from '../../api/types'
import type { Cells } from '../words/display'
import { wireNumber } from '../words/format'

export function rowsOf(jacobian: Jacobian): number[][] {
  const values = jacobian.values.map(wireNumber)
  return Array.from({ length: jacobian.rows }, (_, row) =>
    values.slice(row * jacobian.columns, (row + 1) * jacobian.columns),
  )
}

/** What backward computes: vᵀJ, one number for each input. Null where the vector's length does not fit. */
export function product(vector: readonly number[] | null, jacobian: Jacobian): number[] | null {
  if (vector?.length !== jacobian.rows) return null
  const sums = new Array<number>(jacobian.columns).fill(0)
  rowsOf(jacobian).forEach((row, i) => row.forEach((value, j) => (sums[j]! += vector[i]! * value)))
  return sums
}

/** A tensor's elements; null for those that were not kept. */
export function elementsOf(tensor: Tensor | undefined): number[] | null {
  return tensor?.data ? tensor.data.map(wireNumber) : null
}

/** The place of element `at` of a shape: `[1, 0]`; nothing for a scalar. */
export function placeOf(at: number, shape: readonly number[]): string {
  if (shape.length === 0) return ''
  const places: number[] = []
  let rest = at
  for (const size of [...shape].reverse()) {
    places.unshift(size > 0 ? rest % size : 0)
    rest = Math.floor(rest / Math.max(1, size))
  }
  return `[${places.join(', ')}]`
}

/** A larger Jacobian as a picture. */
export function pictureOf(jacobian: Jacobian): Cells {
  const values = Float32Array.from(jacobian.values, wireNumber)
  const scale = values.reduce((most, value) => (Math.abs(value) > most ? Math.abs(value) : most), 0)
  return {
    rows: jacobian.rows, columns: jacobian.columns,
    values: values.map((value) => (Number.isFinite(value) ? (scale > 0 ? value / scale : value) : NaN)),
  }
}
