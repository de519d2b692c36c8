import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Hand } from './hand'
import { Turns } from './turns'

let now = 0

beforeEach(() => {
  now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
})

afterEach(() => {
  vi.restoreAllMocks()
})

const isKnown = (): boolean => false

/** A hand and what it turns: `at 30` is the program three steps on. */
function held() {
  const turns = new Turns<string>()
  const hand = new Hand((at) => `at ${at}`)
  const move = (at: number, ms: number): void => {
    now = ms
    hand.move(at, 10, ms)
    turns.turn(`at ${at}`, 1, hand)
  }
  return { turns, hand, move }
}

test('a hand comes to the values that its pace tells, and to the next one at least', () => {
  const { hand, move } = held()
  move(10, 0)
  expect(hand.ahead(100)).toEqual([])
  move(20, 20)
  expect(hand.ahead(60).map(({ code }) => code)).toEqual(['at 50', 'at 40', 'at 30'])
  expect(hand.ahead(1).map(({ at }) => at)).toEqual([30])
  expect(hand.ahead(9000).map(({ at }) => at)).toEqual(hand.ahead(250).map(({ at }) => at))
})

test('a hand that turns back, rests or has let go comes to nothing it came from', () => {
  const { hand, move } = held()
  move(10, 0)
  move(20, 200)
  move(10, 400)
  expect(hand.ahead(50).map(({ at }) => at)).toEqual([0])
  now = 790
  expect(hand.ahead(50)).not.toEqual([])
  now = 810
  expect(hand.ahead(50)).toEqual([])
  move(0, 820)
  hand.letGo()
  expect(hand.ahead(50)).toEqual([])
})

test('a value ahead of the hand is run, and shown when the hand has come to it', () => {
  const { turns, move } = held()
  move(10, 0)
  expect(turns.next(isKnown)).toEqual({ code: 'at 10', stroke: 1, at: 10 })
  turns.hold({ code: 'at 10', stroke: 1, at: 10 }, 'one', 20)
  expect([turns.due(), turns.due()]).toEqual(['one', undefined])
  move(20, 20)
  const next = turns.next(isKnown)!
  expect(next.at).toBe(50)
  turns.hold(next, 'five', 20)
  move(40, 60)
  expect(turns.due()).toBeUndefined()
  move(50, 80)
  expect(turns.due()).toBe('five')
})

test('nothing is shown that the hand has not come to, or has come back from', () => {
  const { turns, move } = held()
  move(10, 0)
  move(20, 20)
  turns.hold({ code: 'at 40', stroke: 1, at: 40 }, 'four', 20)
  turns.hold({ code: 'at 30', stroke: 1, at: 30 }, 'three', 20)
  expect(turns.due()).toBeUndefined()
  move(60, 40)
  expect(turns.due()).toBe('four')
  turns.hold({ code: 'at 30', stroke: 1, at: 30 }, 'three', 20)
  expect(turns.due()).toBeUndefined()
  move(30, 60)
  expect(turns.due()).toBe('three')
})

test('what is known ahead is not run again; then it is the value under the hand', () => {
  const { turns, move } = held()
  move(10, 0)
  move(20, 200)
  const codes = [turns.next(isKnown)?.code, turns.next(isKnown)?.code]
  expect(codes).toEqual(['at 30', 'at 20'])
  expect(turns.next((code) => code === 'at 20' || code === 'at 30')).toBeNull()
})

test('answers of another stroke are for nobody, where a hand turned it', () => {
  const { turns } = held()
  turns.turn('other', 2, new Hand((at) => `other ${at}`))
  turns.hold({ code: 'at 10', stroke: 1, at: 10 }, 'one', 20)
  expect(turns.due()).toBeUndefined()
  turns.hold({ code: 'typed', stroke: 1, at: null }, 'typed', 20)
  expect(turns.due()).toBe('typed')
})
