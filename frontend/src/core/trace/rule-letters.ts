// The letters of a derivative rule: its own where the program leaves them free, others where it has a use for them.

import type { Window } from '../../api/types'
import { letters as windowLetters } from '../ops/window'
import type { Rule, RuleSlot } from '../rules'
import type { TraceIndex } from './trace-index'

export const CONSTANT = 'π'

/** A letter's place in the MathML of a rule. */
export const PLACE = /<mi data-slot="([^"]+)"[^>]*>(.*?)<\/mi>/g

export function escape(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}

export function place({ name, letter }: RuleSlot): string {
  return `<mi data-slot="${name}">${escape(letter)}</mi>`
}

const FREE = { lower: [...'abcdhkpqrstuvwxyz'], upper: [...'ABCDKMPQRSUVWXYZ'] }
const GRADIENT = [...'guvwhq']
const LOSS = [...'LJES']

export interface Letters {
  of: ReadonlyMap<string, string>
  loss: string
}

const namesOf = new WeakMap<TraceIndex, { read: ReadonlySet<string>; bound: ReadonlySet<string> }>()

/** Names that stand in the program, and those that it gave to something. */
function programNames(index: TraceIndex): { read: ReadonlySet<string>; bound: ReadonlySet<string> } {
  let names = namesOf.get(index)
  if (!names) {
    const { program, tensors, variables } = index.trace
    names = {
      read: new Set(program.code.match(/[\p{L}_][\p{L}\p{N}_]*/gu)),
      bound: new Set([...variables.map(({ name }) => name), ...tensors.flatMap((tensor) => tensor.names ?? [])]),
    }
    namesOf.set(index, names)
  }
  return names
}

function firstFree(candidates: readonly string[], taken: (letter: string) => boolean): string {
  return candidates.find((letter) => !taken(letter)) ?? `${candidates[0]!}₀`
}

/** The letter of the gradient that enters, everywhere the inspector speaks of it. */
export function gradientLetter(index: TraceIndex): string {
  return firstFree(GRADIENT, (letter) => programNames(index).read.has(letter))
}

/** The rule's own letters where the program leaves them free, others where it has a use for them, or the size of a
 *  window is told with them. */
export function lettersFor(index: TraceIndex, rule: Rule, window: Window | null): Letters {
  const { read, bound } = programNames(index)
  const loss = firstFree(LOSS, (letter) => read.has(letter))
  const sized = window?.axes[0] ? windowLetters(window, window.axes[0]).map(({ letter }) => letter) : []
  const used = new Set([loss, gradientLetter(index), ...sized])
  const of = new Map<string, string>()
  for (const [, name = '', letter = ''] of placesOf(rule)) {
    if (name === CONSTANT || of.has(name)) continue
    const [base = '', ...marks] = letter.length > 1 && /^[\w.]+$/.test(letter) ? [letter] : letter
    const others = /\p{Lu}/u.test(base) ? FREE.upper : FREE.lower
    const names = base.length > 1 ? bound : read
    const chosen = name === 'g' ? gradientLetter(index) : names.has(base) || used.has(base)
      ? firstFree(others, (other) => read.has(other) || used.has(other))
      : base
    used.add(chosen)
    of.set(name, chosen + marks.join(''))
  }
  return { of, loss }
}

function placesOf(rule: Rule): RegExpExecArray[] {
  const all = rule.slots.map((slot) => place(slot) + slot.mathml)
  return [...(rule.forward_mathml + all.join('')).matchAll(PLACE)]
}

export function lettered(mathml: string, { of }: Letters): string {
  return mathml.replace(PLACE, (whole, name: string, letter: string) => {
    const chosen = of.get(name)
    return chosen === undefined ? whole : whole.replace(`>${letter}<`, `>${escape(chosen)}<`)
  })
}
