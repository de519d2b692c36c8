import { expect, test } from 'vitest'
import { load } from '../fixtures/load'
import { childrenOf, sheetOf, toggled } from './fold'
import { foldings, nearest } from './foldings'
import { openingChoice } from './opening'

const sheet = sheetOf(load('attention').graph)
const opening = openingChoice(sheet)
const [top] = childrenOf(sheet, '').filter((id) => sheet.groups.has(id))

test('first stands how the graph opens, then what one press makes of it', () => {
  const [first, ...rest] = foldings(sheet, 100)
  expect(first).toEqual(opening)
  const pressed = toggled(sheet, opening, top!)
  expect(rest.map((open) => open.has(top!))).toContain(pressed.has(top!))
  expect(new Set(rest.map((open) => [...open].sort().join(' '))).size).toBe(rest.length)
})

test('where others are wanted open, those stand first', () => {
  expect(foldings(sheet, 100, [top!])[0]).toEqual(new Set([top]))
  const [, folded] = foldings(sheet, 2, [top!])
  expect(folded).toEqual(new Set())
})

test('there are no more than asked for', () => {
  expect(foldings(sheet, 1)).toEqual([opening])
  expect(foldings(sheet, 2)).toHaveLength(2)
})

test('what is pressed stands as wanted, the rest as near to it as there is', () => {
  const choices = [['a'], ['a', 'b'], ['a', 'c'], []]
  const at = (before: string[], wanted: string[]): number => nearest(choices, new Set(before), new Set(wanted))
  expect(choices[at(['a'], ['a', 'b'])]).toEqual(['a', 'b'])
  expect(choices[at(['a', 'b'], ['a', 'b', 'c'])]).toEqual(['a', 'c'])
  expect(choices[at(['a', 'b'], ['b'])]).toEqual([])
  expect(at(['a'], ['a', 'd'])).toBe(-1)
})
