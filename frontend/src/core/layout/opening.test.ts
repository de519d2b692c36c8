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
