import { afterEach, expect, test, vi } from 'vitest'
import { literals, type Literal } from '../../core/trace/literals'
import type { Hand } from '../state/hand'
import { turnByKey } from './turning'

const plain = { shiftKey: false, altKey: false }
let clock = 0

afterEach(() => {
  vi.restoreAllMocks()
  clock += 10_000
})

/** A program whose first number keys turn, each so many milliseconds after the one before. */
function keyed(first: string) {
  const told = { code: first, strokes: new Set<number>(), hand: undefined as Hand | undefined }
  const press = (key: string, ms: number, more = {}, code = told.code, literal: Literal = literals(code)[0]!) =>
    turnByKey({ ...plain, ...more, key, timeStamp: (clock += ms) }, code, literal, (next, stroke, hand) => {
      told.code = next
      told.strokes.add(stroke)
      told.hand = hand
    })
  return { told, press }
}

test('an arrow key that is held is a hand whose next values are foreseen', () => {
  const { told, press } = keyed('x = 2.0')
  press('ArrowUp', 0)
  vi.spyOn(performance, 'now').mockImplementation(() => clock)
  expect([told.code, told.hand!.ahead(60)]).toEqual(['x = 2.1', []])
  for (let turn = 0; turn < 4; turn += 1) press('ArrowUp', 30)
  expect([told.code, told.strokes.size]).toEqual(['x = 2.5', 1])
  expect(told.hand!.ahead(60).map(({ code }) => code)).toEqual(['x = 2.7', 'x = 2.6'])
})

test('keys go on from what they made, and begin anew with another program or after a rest', () => {
  const { told, press } = keyed('x = 2.0; y = 5')
  press('ArrowUp', 0, { altKey: true })
  press('ArrowUp', 100)
  press('ArrowDown', 100, { shiftKey: true })
  expect(told.code).toBe('x = 1.11; y = 5')
  press('ArrowUp', 100, {}, told.code, literals(told.code)[1])
  expect([told.code, told.strokes.size]).toEqual(['x = 1.11; y = 6', 1])
  press('ArrowUp', 100, {}, 'x = 7')
  expect([told.code, told.strokes.size]).toEqual(['x = 8', 1])
  press('ArrowUp', 900)
  expect([told.code, told.strokes.size]).toEqual(['x = 9', 2])
})

test('at the end of its range a number stays, and turns back at once', () => {
  const { told, press } = keyed('x = 3')
  const ranged = (): Literal => ({ ...literals(told.code)[0]!, range: { least: 0, most: 4, step: 1 } })
  for (let turn = 0; turn < 5; turn += 1) press('ArrowUp', 30, {}, told.code, ranged())
  expect(told.code).toBe('x = 4')
  press('ArrowDown', 30, {}, told.code, ranged())
  expect(told.code).toBe('x = 3')
  expect(press('Enter', 30)).toBe(false)
})
