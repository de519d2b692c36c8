// Values of a number under the hand: which is run next, and what comes of which is shown. One is run at a time, where
// the hand's pace tells one that it will have come to when the answer is here.

import type { Hand } from './hand'

/** A program that a number is turned to. */
export interface Value {
  code: string
  stroke: number
  /** Where the hand is then; null where none is on the number. */
  at: number | null
}

/** An answer that comes a frame early is shown in time. */
const FRAME_MS = 16
const QUICK_MS = 50
/** A run is overdue when it takes this much longer than the one before. */
const OVERDUE = 3
/** Runs by which is told how long the next one takes. */
const LATELY = 3
const MOST_HELD = 3

export class Turns<Answer> {
  private now: Value = { code: '', stroke: 0, at: null }
  private hand: Hand | null = null
  /** What was asked for last. */
  private asked: Value | null = null
  private held: readonly (Value & { answer: Answer })[] = []
  /** Where the hand was at what is shown. */
  private shownAt = 0
  /** How long the latest runs took, the last one first. */
  private tookMs: readonly number[] = [QUICK_MS]

  turn(code: string, stroke: number, hand: Hand | null): void {
    if (stroke !== this.now.stroke || !hand) {
      this.held = []
      this.shownAt = 0
    }
    this.hand = hand
    this.now = { code, stroke, at: hand && hand.at }
  }

  /** Nothing that was asked for is awaited any more. */
  forget(): void {
    this.asked = null
  }

  /** What is to be run: a value ahead of the hand, else the one it is at; null where they are known. */
  next(isKnown: (code: string) => boolean): Value | null {
    const { hand, now } = this
    const known = new Set([this.asked, ...this.held].map((value) => value?.code))
    const ahead = hand?.ahead(Math.max(...this.tookMs) + FRAME_MS) ?? []
    const found = [...ahead, now].find(({ code }) => !known.has(code) && !isKnown(code))
    if (!found) return null
    this.asked = { ...now, ...found }
    return this.asked
  }

  isOverdue(ms: number): boolean {
    return ms > OVERDUE * Math.max(QUICK_MS, this.tookMs[0]!)
  }

  /** An answer has come. */
  hold(value: Value, answer: Answer, ms: number): void {
    this.tookMs = [ms, ...this.tookMs].slice(0, LATELY)
    if (value.at === null || value.stroke === this.now.stroke)
      this.held = [...this.held, { ...value, answer }].slice(-MOST_HELD)
  }

  /** A run was given up: its program is slow, and must be let come to its end. */
  giveUp(): void {
    this.tookMs = [2 * Math.max(QUICK_MS, this.tookMs[0]!)]
    this.asked = null
  }

  /** Of the answers between what is shown and the hand the one nearest to the hand; the others are forgotten. */
  due(): Answer | undefined {
    const { now, shownAt } = this
    const left = ({ at }: Value): number => Math.abs((now.at ?? 0) - (at ?? 0))
    const isDue = ({ code, at }: Value): boolean =>
      code === now.code || at === null || (now.at !== null && (at - shownAt) * (now.at - at) > 0)
    const due = this.held.filter(isDue).sort((one, other) => left(one) - left(other))[0]
    this.held = this.held.filter((value) => !isDue(value))
    if (due) this.shownAt = due.at ?? 0
    return due?.answer
  }
}
