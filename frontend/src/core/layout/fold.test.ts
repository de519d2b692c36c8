import { expect, test } from 'vitest'
import type { Graph } from '../../api/types'
import { childrenOf, groupsAround, sheetOf, standIn, type Sheet } from './fold'
import { load } from '../fixtures/load'

function stubsOf(constants: string[]): string[] {
  const box = { id: 'o1', kind: 'op', title: 'stack', name: '', family: 'op', constants }
  const graph = { boxes: [box], links: [], groups: [], roots: [] } as unknown as Graph
  return (sheetOf(graph).stubs.get('o1') ?? []).map((stub) => stub.text)
}

test('a few constants are drawn each', () => {
  expect(stubsOf([])).toEqual([])
  expect(stubsOf(['2', '2', '3'])).toEqual(['2', '2', '3'])
})

test('many constants have no more room than a few: alike ones are one, the rest is counted', () => {
  expect(stubsOf(Array.from({ length: 16 }, () => '(4)'))).toEqual(['(4) ×16'])
  expect(stubsOf(['a', 'a', 'b', 'c', 'c', 'c', 'd', 'e'])).toEqual(['a ×2', 'b', '+5'])
  expect(stubsOf(['1', '2', '3', '4'])).toEqual(['1', '2', '+2'])
})

test('constants are written as other numbers are', () => {
  expect(stubsOf(['5e-05', '-inf'])).toEqual(['5e−5', '−Inf'])
  expect(stubsOf(['-1', 'mask', '(4)'])).toEqual(['−1', 'mask', '(4)'])
  expect(stubsOf(['3.0', '0.100', '10000000'])).toEqual(['3', '0.1', '1e7'])
})

test('a constant does not become another number', () => {
  expect(stubsOf(['1.0001', '-0.99999', '123456.75'])).toEqual(['1.0001', '−0.99999', '123456.75'])
})

test('what is in folded groups is seen once those around it are open', () => {
  const sheet = sheetOf(load('attention').graph)
  const inside = [...sheet.boxes.keys()].filter((id) => standIn(sheet, id, new Set()) !== id)
  expect(inside.length).toBeGreaterThan(0)
  for (const id of [...inside, ...sheet.groups.keys()])
    expect(standIn(sheet, id, new Set(groupsAround(sheet, id)))).toBe(sheet.single.get(id) ?? id)
})

test('what many use leads a lane to its first use and is a stub at the others', () => {
  const drawn = (uses: number) => {
    const ops = Array.from({ length: uses }, (_, at) => ({ id: `o${at}`, kind: 'op', title: 'add', name: '' }))
    const mask = { id: 'm', kind: 'ghost', title: 'triu', name: 'mask', op: 'p1' }
    const links = ops.map(({ id }) => ({ source: 'm', target: id, kind: 'ghost' }))
    const sheet = sheetOf({ boxes: [mask, ...ops], links, groups: [], roots: [] } as unknown as Graph)
    expect(sheet.boxes.has('m')).toBe(true)
    return [sheet.links.map(({ target }) => target).join(' '), [...sheet.stubs].map(([id, [stub]]) => id + stub!.text)]
  }
  expect(drawn(3)).toEqual(['o0 o1 o2', []])
  expect(drawn(6)).toEqual(['o0', ['o1mask', 'o2mask', 'o3mask', 'o4mask', 'o5mask']])
})

/** Straight code: a leaf `a`, and lines of so many boxes each, which give `v1`, `v2` … */
function straight(...lines: number[]): Sheet {
  const leaf = { id: 'a', kind: 'leaf', title: 'leaf', name: 'a', family: 'leaf' }
  const ops = lines.flatMap((many, line) => Array.from({ length: many }, (_, at) => ({
    id: `${line}.${at}`, kind: 'op', title: 'mul', name: at === many - 1 ? `v${line + 1}` : '', family: 'product',
    span: { line: line + 1 },
  })))
  return sheetOf({ boxes: [leaf, ...ops], links: [], groups: [], roots: [] } as unknown as Graph)
}
const top = (sheet: Sheet) =>
  childrenOf(sheet, '').map((id) => sheet.groups.get(id)?.title ?? sheet.boxes.get(id)!.name)

test('straight code of few boxes stands as it is', () => {
  expect(straight(...Array.from({ length: 29 }, () => 1)).groups.size).toBe(0)
})

test('of longer straight code each line is one box, and leaves stay outside', () => {
  const sheet = straight(1, 30, 1, 40, 2)
  expect(top(sheet)).toEqual(['a', 'v1', 'v2', 'v3', 'v4', 'v5'])
  expect([...sheet.groups.values()].map(({ size }) => size)).toEqual([30, 40, 2])
})

test('many lines are put together evenly and called after the first and the last', () => {
  expect(top(straight(...Array.from({ length: 62 }, () => 2)))).toEqual(
    ['a', 'v1 … v16', 'v17 … v32', 'v33 … v48', 'v49 … v62'])
})
