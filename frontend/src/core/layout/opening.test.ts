import { expect, test } from 'vitest'
import type { Graph } from '../../api/types'
import { sheetOf } from './fold'
import { openingChoice } from './opening'

const box = (id: string, group: string | null) => ({ id, kind: 'op', title: 'mul', name: id, family: 'op', group })

function opened(others: number): string[] {
  const groups = [{ id: 'g', kind: 'loop', title: 'for w in ws', repeat: 12 }]
  const inside = Array.from({ length: 12 }, (_, at) => box(`i${at}`, 'g'))
  const boxes = [...inside, ...Array.from({ length: others }, (_, at) => box(`o${at}`, null))]
  return [...openingChoice(sheetOf({ boxes, links: [], groups, roots: [] } as unknown as Graph))]
}

test('a long loop whose steps hand nothing on is one box, unless that would be all there is to see', () => {
  expect(opened(2)).toEqual([])
  expect(opened(0)).toEqual(['g'])
})

test('leaves that were put together for their number stay so', () => {
  const groups = ['a', 'b'].map((id) => ({ id, kind: 'line', title: id }))
  const boxes = ['a', 'a', 'b', 'b', 'b'].map((group, at) =>
    ({ id: `n${at}`, kind: 'leaf', title: 'leaf', name: `net.${group}[${at}]`, group }))
  expect(openingChoice(sheetOf({ boxes, links: [], groups, roots: [] } as unknown as Graph)).size).toBe(0)
})

test('turns of one loop open together, one that ran less than the others too', () => {
  const turns = Array.from({ length: 12 }, (_, at) => `t${at}`)
  const groups = [
    { id: 'g', kind: 'loop', title: 'for t in range(12)', repeat: 12, hands_on: true },
    ...turns.map((id, at) => ({ id, kind: 'loop', type: 'for t', title: `t = ${at}`, parent: 'g', size: at ? 3 : 2 })),
  ]
  const boxes = turns.flatMap((id, at) => [0, 1, 2].slice(at ? 0 : 1).map((n) => box(`${id}.${n}`, id)))
  expect([...openingChoice(sheetOf({ boxes, links: [], groups, roots: [] } as unknown as Graph))]).toEqual(['g'])
})

test('what one op made stays one box, unless that would be all there is to see', () => {
  const opened = (others: string[]) => {
    const boxes = [...['a', 'b', 'c'].map((id) => box(id, 'g')), ...others.map((id) => box(id, null))]
    const groups = [{ id: 'g', kind: 'op', title: 'score', type: 'einsum' }]
    return [...openingChoice(sheetOf({ boxes, links: [], groups, roots: [] } as unknown as Graph))]
  }
  expect([opened(['loss']), opened([])]).toEqual([[], ['g']])
})
