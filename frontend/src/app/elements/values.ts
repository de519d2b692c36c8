// The numbers of larger tensors, fetched in pages when they are looked at, and what is drawn from them.

import * as api from '../../api/client'
import type { Tensor } from '../../api/types'
import { count } from '../../core/ops/places'
import { cells, type Cells } from '../../core/words/display'
import { wireNumber } from '../../core/words/format'
import type { Lang } from '../../core/state'

const MOST_VALUES = 32 * 32
const HEATMAP = 32

/** Values of a kept tensor from an element on: enough for a picture of its last two axes. */
export async function valuesFrom(
  start: number, run: string, tensor: Tensor, lang: Lang, signal: AbortSignal,
): Promise<number[]> {
  const width = tensor.shape[tensor.shape.length - 1] ?? 1
  const wanted = Math.min(count(tensor.shape.slice(-2)), Math.max(MOST_VALUES, width * HEATMAP))
  const values: number[] = []
  let offset: number | null = start
  while (offset !== null && values.length < wanted) {
    const page: api.Page = await api.values(run, tensor.id, offset, lang, signal)
    values.push(...page.values.map(wireNumber))
    offset = page.next
  }
  return values
}

/** The values of a slice of a tensor that came with the trace. */
export function dataOf({ shape, data }: Tensor, start: number): NonNullable<Tensor['data']> {
  return (data ?? []).slice(start, start + count(shape.slice(-2)))
}

/** Top left 32×32 of a slice, one cell per element, in shares of a number. */
export function corner(shape: readonly number[], values: readonly number[], scale: number): Cells {
  const width = shape[shape.length - 1] ?? 1
  const height = shape.length > 1 ? (shape[shape.length - 2] ?? 1) : 1
  const columns = Math.min(HEATMAP, width)
  const rows = Math.min(HEATMAP, height, Math.floor(values.length / Math.max(1, width)) || 1)
  const picked = new Float32Array(rows * columns)
  for (let y = 0; y < rows; y += 1) {
    for (let x = 0; x < columns; x += 1) {
      const value = values[y * width + x] ?? 0
      picked[y * columns + x] = Number.isFinite(value) ? value / (scale || 1) : NaN
    }
  }
  return { rows, columns, values: picked }
}

/** Size of a tensor's picture: square cells of at most 14 px, at most as wide and as high as there is room. */
export function sizeOf(tensor: Tensor, picture: Cells | undefined, most: number): { width: number; height: number } {
  const grid = picture ?? cells(tensor)
  if (!grid) return { width: most, height: 24 }
  const cell = Math.min(14, most / Math.max(grid.columns, grid.rows))
  return { width: grid.columns * cell, height: Math.max(8, grid.rows * cell) }
}

export interface Figures {
  min: number
  max: number
  mean: number
  std: number
  norm: number
  zeros: number
  nan: number
  inf: number
}

/** How values are spread: how many lie in each of equal steps from the smallest to the largest. */
export interface Spread {
  min: number
  max: number
  bins: readonly number[]
  /** Of how many finite values. */
  n: number
}

/** The largest of the finite values, without its sign: what the colours of all slices are measured by. */
export function scaleOf({ min, max }: Pick<Figures, 'min' | 'max'>): number {
  return Math.max(Math.abs(min), Math.abs(max))
}

const BINS = 32

/** Figures of a tensor: its summary, or worked out from its values; those of no finite element are NaN. */
export function figures(tensor: Tensor): Figures | null {
  const { summary } = tensor
  if (summary) {
    return {
      min: wireNumber(summary.min),
      max: wireNumber(summary.max),
      mean: wireNumber(summary.mean),
      std: wireNumber(summary.std),
      norm: wireNumber(summary.norm),
      zeros: summary.zeros ?? 0,
      nan: summary.nan ?? 0,
      inf: summary.inf ?? 0,
    }
  }
  if (!tensor.data || tensor.data.length === 0 || tensor.dtype === 'bool' || tensor.dtype.startsWith('complex'))
    return null
  const all = tensor.data.map(wireNumber)
  const finite = all.filter(Number.isFinite)
  const [min, max] = finite.length > 0 ? [Math.min(...finite), Math.max(...finite)] : [NaN, NaN]
  const mean = finite.reduce((a, b) => a + b, 0) / finite.length
  const std = Math.sqrt(finite.reduce((sum, value) => sum + (value - mean) ** 2, 0) / finite.length)
  return {
    min,
    max,
    mean,
    std,
    norm: Math.sqrt(finite.reduce((sum, value) => sum + value * value, 0)),
    zeros: finite.filter((value) => value === 0).length,
    nan: all.filter(Number.isNaN).length,
    inf: all.filter((value) => Math.abs(value) === Infinity).length,
  }
}

/** The spread of values that are known; null where they are all one. */
export function spreadOf(values: readonly number[]): Spread | null {
  const finite = values.filter(Number.isFinite)
  const min = finite.reduce((least, value) => Math.min(least, value), Infinity)
  const max = finite.reduce((most, value) => Math.max(most, value), -Infinity)
  if (!(max > min)) return null
  const bins = new Array<number>(BINS).fill(0)
  for (const value of finite) bins[Math.min(BINS - 1, Math.floor(((value - min) / (max - min)) * BINS))]! += 1
  return { min, max, bins, n: finite.length }
}
