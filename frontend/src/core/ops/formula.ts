// Formulas of derivative rules, computed from the numbers that stand in them: what is shown is checked with it.

import type { Terms } from '../rules'
import { count } from './places'

/** Numbers in row-major order; one number has no axes. */
export interface Grid {
  shape: readonly number[]
  values: readonly number[]
}

type Scalar = (...values: number[]) => number

const sigmoid: Scalar = (x = 0) => 1 / (1 + Math.exp(-x))

const ELEMENTWISE: Readonly<Record<string, Scalar>> = {
  add: (a = 0, b = 0) => a + b,
  sub: (a = 0, b = 0) => a - b,
  mul: (a = 0, b = 0) => a * b,
  div: (a = 0, b = 0) => a / b,
  pow: (a = 0, b = 0) => a ** b,
  neg: (a = 0) => -a,
  gt: (a = 0, b = 0) => Number(a > b),
  ge: (a = 0, b = 0) => Number(a >= b),
  lt: (a = 0, b = 0) => Number(a < b),
  le: (a = 0, b = 0) => Number(a <= b),
  eq: (a = 0, b = 0) => Number(a === b),
  and: (a = 0, b = 0) => Number(a !== 0 && b !== 0),
  indicator: (a = 0) => a,
  where: (condition = 0, a = 0, b = 0) => (condition !== 0 ? a : b),
  clamp: (a = 0, least = 0, most = 0) => Math.min(Math.max(a, least), most),
  exp: (a = 0) => Math.exp(a),
  log: (a = 0) => Math.log(a),
  sqrt: (a = 0) => Math.sqrt(a),
  sin: (a = 0) => Math.sin(a),
  cos: (a = 0) => Math.cos(a),
  tanh: (a = 0) => Math.tanh(a),
  abs: (a = 0) => Math.abs(a),
  sign: (a = 0) => Math.sign(a),
  floor: (a = 0) => Math.floor(a),
  sigmoid,
}

type Shaped = (into: readonly number[], ...grids: Grid[]) => Grid | null

const filled = (shape: readonly number[], value: number): Grid => ({ shape, values: Array(count(shape)).fill(value) })
const one = (value: number): Grid => ({ shape: [], values: [value] })

/** The sum along axes, of all where none are named. */
function added(grid: Grid, along: Grid | undefined): Grid | null {
  return along ? sum(grid, along.values) : one(grid.values.reduce((x, y) => x + y, 0))
}

/** Functions that know the shape of the input whose gradient is asked for, or change shapes. */
const SHAPED: Readonly<Record<string, Shaped>> = {
  ones: (into) => filled(into, 1),
  zeros: (into) => filled(into, 0),
  matmul: (_, a, b) => product(a!, b!),
  transpose: (_, a) => transposed(a!),
  outer: (_, a, b) => product({ ...a!, shape: [count(a!.shape), 1] }, { ...b!, shape: [1, count(b!.shape)] }),
  reshape: (into, a) => (count(into) === count(a!.shape) ? { ...a!, shape: into } : null),
  expand: (into, a, along) => expanded(a!, along!.values, into),
  total: (_, a, along) => added(a!, along),
  mean: (_, a, along) => {
    const total = added(a!, along)
    const each = total && count(a!.shape) / count(total.shape)
    return total && each ? { ...total, values: total.values.map((value) => value / each) } : null
  },
  size: (_, a, along) => one(along!.values.reduce((product, axis) => product * (a!.shape.at(axis) ?? NaN), 1)),
  cumsum: (_, a, along) => lines(a!, along!.values[0]!, running),
  reverse: (_, a, along) =>
    along!.values.reduce<Grid | null>((grid, axis) => grid && lines(grid, axis, (line) => line.toReversed()), a!),
  roll: (_, a, by, along) => rolled(a!, by!.values, along?.values),
  piece: (_, a, start, end, along) => piece(a!, start!.values[0]!, end!.values[0]!, along!.values[0]!),
  select: (into, a, along, at) => {
    const cut = piece(a!, at!.values[0]!, at!.values[0]! + 1, along!.values[0]!)
    return cut && { ...cut, shape: into }
  },
  inverse: (_, a) => inverse(a!),
  put: (into, a, along, at) => put(a!, along!.values[0]!, at!.values[0]!, into),
}

/** The value of a formula for an input of this shape; null where it can't be computed. */
export function evaluate(terms: Terms, at: (name: string) => Grid | null, into: readonly number[]): Grid | null {
  if (typeof terms === 'number') return one(terms)
  if (typeof terms === 'string') return at(terms)
  const [name, ...rest] = terms as [string, ...Terms[]]
  const grids = rest.map((part) => evaluate(part, at, into))
  if (!grids.every((grid) => grid !== null)) return null
  const each = ELEMENTWISE[name]
  return each ? elementwise(each, grids) : (SHAPED[name]?.(into, ...grids) ?? null)
}

/** The shape two operands are stretched to; null where they don't fit. */
function stretched(a: readonly number[], b: readonly number[]): number[] | null {
  const axes = Math.max(a.length, b.length)
  const shape: number[] = []
  for (let axis = -axes; axis < 0; axis++) {
    const [x, y] = [a.at(axis) ?? 1, b.at(axis) ?? 1]
    if (-axis <= a.length && -axis <= b.length && x !== y && x !== 1 && y !== 1) return null
    shape.push(x === 1 ? y : x)
  }
  return shape
}

/** Where the element of a stretched tensor lies in the tensor itself. */
function source(shape: readonly number[], wide: readonly number[], at: number): number {
  let place = 0
  let unit = 1
  for (let axis = wide.length - 1, rest = at; axis >= 0; axis--) {
    const size = shape[axis - wide.length + shape.length] ?? 1
    if (size > 1) place += (rest % wide[axis]!) * unit
    unit *= size
    rest = Math.floor(rest / wide[axis]!)
  }
  return place
}

function elementwise(each: Scalar, grids: readonly Grid[]): Grid | null {
  const shape = grids.reduce<number[] | null>((wide, grid) => wide && stretched(wide, grid.shape), [])
  if (!shape) return null
  const values = Array.from({ length: count(shape) }, (_, at) =>
    each(...grids.map((grid) => grid.values[source(grid.shape, shape, at)]!)),
  )
  return { shape, values }
}

/** The sum along axes, which stay with one element each. */
export function sum(grid: Grid, along: readonly number[]): Grid | null {
  const axes = along.map((axis) => (axis < 0 ? axis + grid.shape.length : axis))
  if (axes.some((axis) => grid.shape[axis] === undefined)) return null
  const shape = grid.shape.map((size, axis) => (axes.includes(axis) ? 1 : size))
  const values: number[] = Array(count(shape)).fill(0)
  grid.values.forEach((value, at) => (values[source(shape, grid.shape, at)]! += value))
  return { shape, values }
}

function expanded(grid: Grid, along: readonly number[], into: readonly number[]): Grid | null {
  const axes = along.map((axis) => (axis < 0 ? axis + into.length : axis))
  const shape = [...grid.shape]
  if (shape.length < into.length) for (const axis of axes.sort((a, b) => a - b)) shape.splice(axis, 0, 1)
  return elementwise((value = 0) => value, [{ ...grid, shape }, filled(into, 0)])
}

function transposed(grid: Grid): Grid | null {
  if (grid.shape.length !== 2) return grid.shape.length < 2 ? grid : null
  const [rows = 0, columns = 0] = grid.shape
  const values = grid.values.map((_, at) => grid.values[(at % rows) * columns + Math.floor(at / rows)]!)
  return { shape: [columns, rows], values }
}

function product(a: Grid, b: Grid): Grid | null {
  if (a.shape.length === 0 || b.shape.length === 0 || a.shape.length > 2 || b.shape.length > 2) return null
  const [rows, inner] = a.shape.length === 2 ? [a.shape[0]!, a.shape[1]!] : [1, a.shape[0]!]
  const [same, columns] = b.shape.length === 2 ? [b.shape[0]!, b.shape[1]!] : [b.shape[0]!, 1]
  if (inner !== same) return null
  const values = Array.from({ length: rows * columns }, (_, at) => {
    const [row, column] = [Math.floor(at / columns), at % columns]
    return Array.from({ length: inner }, (_, k) => a.values[row * inner + k]! * b.values[k * columns + column]!)
      .reduce((x, y) => x + y, 0)
  })
  return { shape: [...a.shape.slice(0, -1), ...b.shape.slice(1)], values }
}

/** Each line of numbers along an axis made anew. */
function lines({ shape, values }: Grid, along: number, made: (line: number[]) => number[]): Grid | null {
  const axis = along < 0 ? along + shape.length : along
  const size = shape[axis]
  if (size === undefined) return null
  const inner = count(shape.slice(axis + 1))
  const anew = [...values]
  for (const first of values.keys()) {
    if (Math.floor(first / inner) % size > 0) continue
    const line = Array.from({ length: size }, (_, at) => values[first + at * inner]!)
    for (const [at, value] of made(line).entries()) anew[first + at * inner] = value
  }
  return { shape, values: anew }
}

/** Along axes, or without one all numbers in a row. */
function rolled(grid: Grid, by: readonly number[], along?: readonly number[]): Grid | null {
  if (!along) {
    const row = rolled({ shape: [grid.values.length], values: grid.values }, by, [0])
    return row && { ...grid, values: row.values }
  }
  const turned = (line: readonly number[], by: number): number[] =>
    line.map((_, at) => line[(((at - by) % line.length) + line.length) % line.length]!)
  return along.reduce<Grid | null>(
    (made, axis, at) => made && lines(made, axis, (line) => turned(line, by[at]!)), grid)
}

/** What lies between two indices of an axis; not of one written with an ellipsis, where places are other ones. */
function piece({ shape, values }: Grid, start: number, end: number, along: number): Grid | null {
  const axis = along < 0 ? along + shape.length : along
  const size = shape[axis]
  if (size === undefined || end > size || values.some((value) => Number.isNaN(value))) return null
  const inner = count(shape.slice(axis + 1))
  const isIn = (at: number): boolean => at >= start && at < end
  return {
    shape: shape.with(axis, end - start), values: values.filter((_, at) => isIn(Math.floor(at / inner) % size)),
  }
}

function running(line: readonly number[]): number[] {
  let sum = 0
  return line.map((value) => (sum += value))
}

/** By Gauss and Jordan; of a matrix that has none nothing finite is left. */
function inverse({ shape, values }: Grid): Grid | null {
  const [size = 0, columns] = shape
  if (shape.length !== 2 || size !== columns) return null
  const rows = Array.from({ length: size }, (_, at) => [
    ...values.slice(at * size, (at + 1) * size), ...Array.from({ length: size }, (_, other) => Number(other === at)),
  ])
  for (let at = 0; at < size; at++) {
    const left = rows.splice(at).sort((a, b) => Math.abs(b[at]!) - Math.abs(a[at]!))
    rows.push(...left)
    const pivot = rows[at]!.map((value) => value / rows[at]![at]!)
    rows.forEach((row, other) => (rows[other] = row.map((value, column) => value - row[at]! * pivot[column]!)))
    rows[at] = pivot
  }
  return { shape, values: rows.flatMap((row) => row.slice(size)) }
}

/** Zeros, with the values at one index of an axis. */
function put(grid: Grid, along: number, index: number, into: readonly number[]): Grid | null {
  const axis = along < 0 ? along + into.length : along
  const size = into[axis]
  if (size === undefined || count(grid.shape) * size !== count(into)) return null
  const place = index < 0 ? index + size : index
  const inner = count(into.slice(axis + 1))
  const values = Array.from({ length: count(into) }, (_, at) =>
    Math.floor(at / inner) % size === place
      ? grid.values[Math.floor(at / (inner * size)) * inner + (at % inner)]!
      : 0,
  )
  return { shape: into, values }
}
