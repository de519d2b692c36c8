import { describe, expect, test } from 'vitest'
import type { Graph, Tensor } from '../../api/types'
import { load, NAMES } from '../fixtures/load'
import { TraceIndex } from './trace-index'
import { gradientWay, reach, sharing } from './ways'

/** Whether one box leads to another, by squaring the matrix of links until nothing is new. */
function closure({ boxes, links }: Graph): (from: string, to: string) => boolean {
  const at = new Map(boxes.map(({ id }, row) => [id, row]))
  let leads = boxes.map(() => boxes.map(() => false))
  for (const { source, target } of links) leads[at.get(source)!]![at.get(target)!] = true
  for (let length = 1; length < boxes.length; length *= 2)
    leads = leads.map((row) =>
      row.map((direct, to) => direct || row.some((step, via) => step && leads[via]![to]!)),
    )
  return (from, to) => leads[at.get(from)!]![at.get(to)!]!
}

function normOf({ data, summary }: Tensor): number {
  return summary ? Number(summary.norm) : Math.hypot(...data!.map(Number))
}

describe.each(NAMES)('%s', (name) => {
  const { trace, graph } = load(name)
  const index = new TraceIndex(trace)

  test('what a box is made from leads to it, what is made from it is led to', () => {
    const leads = closure(graph)
    const ids = graph.boxes.map(({ id }) => id)
    for (const id of ids) {
      expect([...reach(graph, id, 'before')].sort()).toEqual(ids.filter((other) => leads(other, id)).sort())
      expect([...reach(graph, id, 'after')].sort()).toEqual(ids.filter((other) => leads(id, other)).sort())
    }
  })

  test('the way to a leaf comes by the largest of the terms that were summed', () => {
    const visits = [...index.visitsOfNode.values()].flat()
    for (const at of visits.filter(({ visit }) => (visit.sums ?? []).length > 0 && visit.entered.length === 1)) {
      const [{ terms }] = at.visit.sums as [NonNullable<typeof at.visit.sums>[number]]
      const norms = terms.map(({ tensor }) => normOf(index.tensor(tensor)!))
      const way = gradientWay(index, at)
      const before = way[way.indexOf(at.visit.node) - 1]
      expect(terms.filter((_, term) => norms[term] === Math.max(...norms)).map(({ node }) => node ?? undefined))
        .toContain(before)
    }
  })

  test('each gradient of the way leaves by the largest that its node sends on', () => {
    for (const at of [...index.visitsOfNode.values()].flat()) {
      const way = gradientWay(index, at)
      for (const [step, id] of way.entries()) {
        const { visit } = index.visitsOfNode.get(id)!.find(({ pass }) => pass === at.pass)!
        const reached = trace.nodes.find((node) => node.id === id)!.edges
        const sent = reached.flatMap(({ to }, slot) => {
          const left = index.tensor(visit.left[slot])
          return to != null && left ? [{ to, norm: normOf(left) }] : []
        })
        const most = Math.max(...sent.map(({ norm }) => norm))
        if (step < way.indexOf(at.visit.node)) expect(reached.map(({ to }) => to)).toContain(way[step + 1])
        else {
          const isVisited = (to: string) => index.visitsOfNode.get(to)?.some(({ pass }) => pass === at.pass)
          const next = sent.filter(({ norm }) => norm === most).map(({ to }) => (isVisited(to) ? to : undefined))
          expect(next.length > 0 ? next : [undefined]).toContain(way[step + 1])
        }
      }
    }
  })
})

test('boxes share memory where their tensors do, and the program has names for both', () => {
  const { trace, graph } = load('hooks')
  const [leaf, ...rest] = graph.boxes.filter(({ tensor }) => tensor != null)
  const names = new Map([[leaf!.tensor, ['x']], [rest[0]!.tensor, ['view']], [rest[1]!.tensor, ['x[0]']]])
  const tensors = trace.tensors.map((tensor) => {
    const called = names.get(tensor.id)
    return { ...tensor, storage: called ? 's1' : null, names: called ?? [] }
  })
  const index = new TraceIndex({ ...trace, tensors })
  expect([...sharing(graph, index, leaf!.id)]).toEqual([rest[0]!.id])
  expect([...sharing(graph, index, rest[1]!.id)]).toEqual([])
})
