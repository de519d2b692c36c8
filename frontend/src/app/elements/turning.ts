// A number under the hand: the pointer or the arrow keys turn it, and the program runs with what it is turned to.

import { put, turnedOn, type Literal } from '../../core/trace/literals'
import { Hand } from '../state/hand'

/** Turns the program into another one; all of one stroke is undone in one step. */
export type Turn = (code: string, stroke: number, hand?: Hand) => void

/** A step for each of these. */
const STEP_PX = 4
const LEAST_PX = 3
/** Keys pressed in a row are one stroke. */
const TOGETHER_MS = 700

let stroke = 0
let pressedAt = -Infinity
let keyed: Keyed | null = null

interface Modifiers {
  shiftKey: boolean
  altKey: boolean
}

/** A movement of its own begins. */
export function newStroke(): number {
  return (stroke += 1)
}

/** Tenths of a step that one step is worth: Shift takes ten of them, Alt a tenth. */
function worth({ shiftKey, altKey }: Modifiers): number {
  return shiftKey ? 100 : altKey ? 1 : 10
}

/** Follows the pointer with a number until it is let go; a press that stays in place is told as such. */
export function dragNumber(down: PointerEvent, code: string, literal: Literal, turn: Turn, pressed: () => void): void {
  const own = newStroke()
  const target = down.target as Element
  const hand = new Hand((at) => put(code, literal, turnedOn(literal, at)), true)
  let [x, way, tenths, text] = [down.clientX, 0, 0, literal.text]
  let isMoved = false
  const move = (event: PointerEvent): void => {
    if (event.pointerId !== down.pointerId) return
    if (!isMoved && Math.abs(event.clientX - x) < LEAST_PX) return
    if (!isMoved) target.setPointerCapture?.(down.pointerId)
    isMoved = true
    way += event.clientX - x
    x = event.clientX
    const steps = Math.trunc(way / STEP_PX)
    way -= steps * STEP_PX
    tenths += steps * worth(event)
    const next = turnedOn(literal, tenths)
    if (next === text) return
    hand.move(tenths, worth(event), event.timeStamp)
    turn(put(code, literal, (text = next)), own, hand)
  }
  const up = (event: PointerEvent): void => {
    if (event.pointerId !== down.pointerId) return
    for (const [name, heard] of heards) window.removeEventListener(name, heard)
    document.documentElement.classList.remove('turning')
    hand.letGo()
    if (!isMoved && event.type === 'pointerup') pressed()
  }
  const heards = [['pointermove', move], ['pointerup', up], ['pointercancel', up]] as const
  for (const [name, heard] of heards) window.addEventListener(name, heard)
  document.documentElement.classList.add('turning')
}

/** What arrow keys turn: they go on with it where the program is still what they made of it. */
interface Keyed {
  hand: Hand
  codeAt: (at: number) => string
  /** Where its number begins. */
  from: number
  /** The program now. */
  turned: string
}

/** Turns a number by an arrow key; whether the key was one. A key that is held is a hand that goes on. */
export function turnByKey(
  event: Modifiers & { key: string; timeStamp: number }, code: string, literal: Literal, turn: Turn,
): boolean {
  const sign = { ArrowUp: 1, ArrowDown: -1 }[event.key]
  if (sign === undefined) return false
  const goesOn = event.timeStamp - pressedAt <= TOGETHER_MS
  pressedAt = event.timeStamp
  if (!goesOn) stroke += 1
  if (!goesOn || keyed?.turned !== code || keyed.from !== literal.from) {
    const codeAt = (at: number): string => put(code, literal, turnedOn(literal, at))
    keyed = { hand: new Hand(codeAt), codeAt, from: literal.from, turned: code }
  }
  const at = keyed.hand.at + sign * worth(event)
  const next = keyed.codeAt(at)
  if (next === keyed.turned) return true
  keyed.turned = next
  keyed.hand.move(at, worth(event), event.timeStamp)
  turn(next, stroke, keyed.hand)
  return true
}
