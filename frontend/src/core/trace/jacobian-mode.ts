// Backward with matrices instead of vectors: at each node the product of all Jacobians from the root to it, beside the
// vector that the engine really passed, and what the matrices would cost.

import type { Jacobian, Node, Pass } from '../../api/types'
import { count } from '../ops/places'
import { elementsOf, rowsOf } from './jacobian'
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
  /** Largest difference between the two. */
  gap: number | null
  factors: readonly Factor[]
}

/** The nodes of a pass in the order the engine ran them; none for a pass with several roots. */
export function stopsOf(index: TraceIndex, pass: Pass, jacobians: readonly Jacobian[]): Stop[] {
  const root = pass.roots.length === 1 ? pass.roots[0] : undefined
  if (!root?.node) return []
  const seed = elementsOf(index.tensor(root.seed))
  const first = index.node(root.node)
  const rows = count(first ? outputShape(index, first, root.input_nr) : [])
  const local = new Map(
    jacobians.flatMap((jacobian) => {
      const { node, slot } = jacobian
      return jacobian.pass === pass.id && node != null ? [[`${node} ${slot ?? 0}`, rowsOf(jacobian)] as const] : []
    }),
  )
  const arrived = new Map<string, (Matrix | null)[]>([[root.node, [identity(rows)]]])
  return pass.visits.flatMap((visit, at): Stop[] => {
    const node = index.node(visit.node)
    if (!node) return []
    const terms = arrived.get(node.id) ?? []
    const product = terms.length > 0 && terms.every((term) => term !== null) && single(node)
      ? (terms.reduce((a, b) => plus(a!, b!)) ?? null)
      : null
    const out = outputShape(index, node, node.id === root.node ? root.input_nr : 0)
    const factors = node.edges.flatMap((edge, slot): Factor[] => {
      const target = edge.to != null ? index.node(edge.to) : undefined
      if (!target || visit.left[slot] == null) return []
      const matrix = local.get(`${node.id} ${slot}`) ?? null
      const sent = product && matrix ? times(product, matrix) : null
      arrived.set(target.id, [...(arrived.get(target.id) ?? []), sent])
      return [
        {
          slot, name: edge.name ?? '', to: target.id, rows: count(out),
          columns: count(outputShape(index, target, edge.input_nr)), matrix, sent,
        },
      ]
    })
    const entered = elementsOf(index.tensor(visit.entered[0]))
    const vjp = product && seed?.length === rows ? (times([seed], product)[0] ?? null) : null
    const gap = vjp && entered?.length === vjp.length
      ? vjp.reduce((most, value, i) => Math.max(most, Math.abs(value - entered[i]!)), 0)
      : null
    return [
      { node: node.id, visit: at, rows, columns: count(out), product, terms: terms.length, vjp, entered, gap, factors },
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
