// Ways through a graph: all that led to a box, all that came of it, and where the largest gradients went.

import type { Box, Graph } from '../../api/types'
import { normOf } from '../words/display'
import { push, type TraceIndex, type VisitAt } from './trace-index'

export const WAYS = ['before', 'after', 'gradient'] as const
export type Way = (typeof WAYS)[number]

/** The boxes that one is made from, or those made from it, at any distance. */
export function reach(graph: Graph, id: string, way: 'before' | 'after'): ReadonlySet<string> {
  const next = new Map<string, string[]>()
  for (const { source, target } of graph.links)
    if (way === 'before') push(next, target, source)
    else push(next, source, target)
  const found = new Set<string>()
  const pending = [id]
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const box of next.get(at) ?? []) {
      if (found.has(box)) continue
      found.add(box)
      pending.push(box)
    }
  }
  return found
}

/** A gradient on its way; the visit is null where it begins at a root, or nothing took it in. */
interface Sent {
  norm: number
  to: VisitAt | null
}

/** The nodes of the way through a visit on which at each node the gradient with the largest norm is followed, back to
 *  where its pass began and on to a leaf. It ends where not all norms are known. */
export function gradientWay(index: TraceIndex, through: VisitAt): string[] {
  const follow = (from: VisitAt, next: (at: VisitAt) => Sent[]): string[] => {
    const nodes: string[] = []
    for (let at = largest(next(from)); at; at = largest(next(at))) nodes.push(at.visit.node)
    return nodes
  }
  const back = follow(through, (at) => received(index, at))
  const on = follow(through, (at) => passedOn(index, at))
  return [...back.reverse(), through.visit.node, ...on]
}

function largest(all: readonly Sent[]): VisitAt | null {
  if (all.length > 1 && all.some(({ norm }) => Number.isNaN(norm))) return null
  const [first, ...rest] = all
  return rest.reduce((best, one) => (one.norm > best!.norm ? one : best), first)?.to ?? null
}

function received(index: TraceIndex, { pass, index: then, visit }: VisitAt): Sent[] {
  const roots = pass.roots.filter((root) => root.node === visit.node)
  const sent = index.edgesInto(visit.node).flatMap(({ node, slot }): Sent[] => {
    const from = visitOf(index, node.id, (at) => at.pass === pass && at.index < then)
    return from?.visit.left[slot] == null ? [] : [{ norm: norm(index, from.visit.left[slot]), to: from }]
  })
  return [...roots.map(({ seed }) => ({ norm: norm(index, seed), to: null })), ...sent]
}

function passedOn(index: TraceIndex, { pass, index: then, visit }: VisitAt): Sent[] {
  return (index.node(visit.node)?.edges ?? []).flatMap(({ to }, slot): Sent[] => {
    const next = to == null ? undefined : visitOf(index, to, (at) => at.pass === pass && at.index > then)
    return visit.left[slot] == null ? [] : [{ norm: norm(index, visit.left[slot]), to: next ?? null }]
  })
}

function visitOf(index: TraceIndex, node: string, isWanted: (at: VisitAt) => boolean): VisitAt | undefined {
  return index.visitsOfNode.get(node)?.find(isWanted)
}

function norm(index: TraceIndex, tensor: string | null | undefined): number {
  const known = index.tensor(tensor)
  return known ? normOf(known) : NaN
}

const NAME = /^[\p{L}_]\w*$/u

/** The other boxes whose tensors lie in the same memory, where the program has names for both: views that no name holds
 *  are the library's own business. */
export function sharing(graph: Graph, index: TraceIndex, id: string): ReadonlySet<string> {
  const memoryOf = ({ tensor, reason }: Box): string | null => {
    if (reason === 'item') return null // a number of Python
    const { storage, names } = index.tensor(tensor) ?? {}
    return names?.some((name) => NAME.test(name)) ? (storage ?? null) : null
  }
  const memory = new Map(graph.boxes.map((box) => [box.id, memoryOf(box)]))
  const own = memory.get(id) ?? null
  return new Set([...memory].flatMap(([other, its]) => (own !== null && its === own && other !== id ? [other] : [])))
}
