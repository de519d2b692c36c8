// Backward with matrices instead of vectors: at each node the product of all Jacobians from the root to it, beside the
// vector that the engine really passed, and what the matrices would cost.

import type { Jacobian, Node, Pass } from '../../api/types'
import { count } from '../ops/places'
import { elementsOf, rowsOf } from './jacobian'
import { isSumOf, precision } from './local'
import type { TraceIndex } from './trace-index'

export type Matrix = readonly (readonly number[])[]

/** A Jacobian on an edge: from a node's output to the output of the node its slot leads to. */
export interface Factor {
  slot: number
  name: string
  to: string
  rows: number
  columns: number
  /** Its numbers, when they were worked out. */
  matrix: Matrix | null
  /** The product up to here times it: what it would send on. */
  sent: Matrix | null
}

export interface Stop {
  node: string
  visit: number
  /** Elements of the root and of the node's output: the shape of the product of all Jacobians so far. */
  rows: number
  columns: number
  product: Matrix | null
  /** How many products were added to give it. */
  terms: number
  /** The seed times the product, and what the engine gave the node. */
  vjp: readonly number[] | null
  entered: readonly number[] | null
  /** Largest difference between the two, and what is to be said of it; null where they cannot be compared. */
  gap: number | null
  verdict: 'equal' | 'rounded' | 'changed' | null
  /** The type of the fewest digits on the way, where each node sent on what its own Jacobian makes of what it got but
   *  for the rounding of its type. */
  dtype: string | null
  factors: readonly Factor[]
}

/** What an edge brought to a node: the product of all Jacobians, and what the engine really sent. */
interface Arrived {
  sent: Matrix | null
  left: readonly number[] | null
  dtype: string | null
}

/** The nodes of a pass in the order the engine ran them; none for a pass with several roots. */
export function stopsOf(index: TraceIndex, pass: Pass, jacobians: readonly Jacobian[]): Stop[] {
  const root = pass.roots.length === 1 ? pass.roots[0] : undefined
  if (!root?.node) return []
  const start = index.tensor(root.seed)
  const seed = elementsOf(start)
  const first = index.node(root.node)
  const rows = count(first ? outputShape(index, first, root.input_nr) : [])
  const local = new Map(
    jacobians.flatMap((jacobian) => {
      const { node, slot } = jacobian
      return jacobian.pass === pass.id && node != null ? [[`${node} ${slot ?? 0}`, rowsOf(jacobian)] as const] : []
    }),
  )
  const arrived = new Map<string, Arrived[]>([
    [root.node, [{ sent: identity(rows), left: seed, dtype: start?.dtype ?? null }]],
  ])
  return pass.visits.flatMap((visit, at): Stop[] => {
    const node = index.node(visit.node)
    if (!node) return []
    const terms = arrived.get(node.id) ?? []
    const sent = terms.map((term) => term.sent)
    const product = terms.length > 0 && sent.every((term) => term !== null) && single(node)
      ? (sent.reduce((a, b) => plus(a!, b!)) ?? null)
      : null
    const given = index.tensor(visit.entered[0])
    const entered = elementsOf(given)
    const dtype = shortestOf(terms.map(({ left }) => left), entered, [given?.dtype, ...terms.map(({ dtype }) => dtype)])
    const out = outputShape(index, node, node.id === root.node ? root.input_nr : 0)
    const factors = node.edges.flatMap((edge, slot): Factor[] => {
      const target = edge.to != null ? index.node(edge.to) : undefined
      if (!target || visit.left[slot] == null) return []
      const matrix = local.get(`${node.id} ${slot}`) ?? null
      const sent = product && matrix ? times(product, matrix) : null
      const gave = index.tensor(visit.left[slot])
      const left = elementsOf(gave)
      const own = matrix && entered?.length === matrix.length ? scaled(entered, matrix) : [null]
      const term = { sent, left, dtype: shortestOf(own, left, [gave?.dtype, dtype]) }
      arrived.set(target.id, [...(arrived.get(target.id) ?? []), term])
      return [
        {
          slot, name: edge.name ?? '', to: target.id, rows: count(out),
          columns: count(outputShape(index, target, edge.input_nr)), matrix, sent,
        },
      ]
    })
    const vjp = product && seed?.length === rows ? (times([seed], product)[0] ?? null) : null
    const gap = vjp && entered?.length === vjp.length
      ? vjp.reduce((most, value, i) => Math.max(most, Math.abs(value - entered[i]!)), 0)
      : null
    const verdict = gap === null || !vjp ? null
      : isEqual(scaled(seed!, product!), entered!, 'float32') ? 'equal' : dtype ? 'rounded' : 'changed'
    return [
      {
        node: node.id, visit: at, rows, columns: count(out), product, terms: terms.length, vjp, entered, gap, verdict,
        dtype, factors,
      },
    ]
  })
}

function outputShape(index: TraceIndex, node: Node, output: number): readonly number[] {
  return node.outputs?.[output]?.shape ?? index.tensor(node.variable)?.shape ?? []
}

/** Several outputs would need a matrix for each. */
function single(node: Node): boolean {
  return (node.outputs?.length ?? 1) <= 1
}

function identity(size: number): Matrix | null {
  return size > 64
    ? null
    : Array.from({ length: size }, (_, row) => Array.from({ length: size }, (__, column) => (row === column ? 1 : 0)))
}

/** Of the types, that of the fewest digits, where the parts come to what was made but for its rounding. */
function shortestOf(
  parts: readonly (readonly number[] | null)[], made: readonly number[] | null,
  dtypes: readonly (string | null | undefined)[],
): string | null {
  const known = dtypes.filter((dtype) => dtype != null)
  if (!made || known.length < dtypes.length || parts.some((part) => part?.length !== made.length)) return null
  const shortest = known.reduce((a, b) => (precision(b) > precision(a) ? b : a))
  return isEqual(parts as Matrix, made, shortest) ? shortest : null
}

function isEqual(parts: Matrix, made: readonly number[], dtype: string): boolean {
  return made.every((value, at) => isSumOf(parts.map((part) => part[at]!), value, dtype))
}

/** Each row of a matrix, multiplied by its number. */
function scaled(by: readonly number[], rows: Matrix): Matrix {
  return rows.map((row, at) => row.map((value) => by[at]! * value))
}

export function times(a: Matrix, b: Matrix): Matrix {
  return a.map((row) =>
    Array.from({ length: b[0]?.length ?? 0 }, (_, column) =>
      row.reduce((sum, value, k) => sum + value * b[k]![column]!, 0),
    ),
  )
}

function plus(a: Matrix, b: Matrix): Matrix {
  return a.map((row, i) => row.map((value, j) => value + b[i]![j]!))
}
