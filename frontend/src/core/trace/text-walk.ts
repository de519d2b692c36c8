// A run as text: every step a sentence, under a heading for each pass and for what happens between passes.

import type { Words } from '../words/sentences'
import { fillingAt } from './filling'
import { passName } from './naming'
import { augmented, tell } from './story'
import type { TraceIndex } from './trace-index'

interface Chapter {
  title: string
  /** Its first and last step. */
  first: number
  last: number
}

/** Where each pass begins and ends, and what is between them. */
export function chapters(index: TraceIndex, t: Words): Chapter[] {
  const found: Chapter[] = []
  const begin = (title: string, first: number): void => {
    const before = found.at(-1)
    if (before) before.last = first - 1
    if (before && before.last < before.first) found.pop()
    found.push({ title, first, last: index.trace.timeline.length })
  }
  begin(t(index.passes.size > 0 ? 'walk.forward' : 'walk.whole'), 1)
  let depth = 0
  index.trace.timeline.forEach(({ kind, pass }, at) => {
    const begun = kind === 'pass' ? index.passes.get(pass ?? '') : undefined
    // Passes of ranks run into each other; one within another belongs to it.
    if (begun && (depth++ === 0 || begun.rank != null)) begin(passName(begun, t), at + 1)
    if (kind === 'pass_end' && --depth === 0) begin(t('walk.after'), at + 2)
  })
  const last = found.at(-1)!
  return last.first > last.last ? found.slice(0, -1) : found
}

export interface Told {
  first: number
  last: number
  text: string
  /** The numbers it ends in. */
  value: string
}

/** What is told of a step, and from where to where: all that a call of the library does to fill parameters, as
 *  `nn.Linear(4, 4)`, is one sentence, and so is a write, of a part too, as `x[0] += 1`. */
export function toldAt(index: TraceIndex, step: number, t: Words): Told {
  const filling = fillingAt(index, step)
  const { first, last } = filling ?? partChangedAt(index, step) ?? { first: step, last: step }
  const { text, value } = tell(index, filling || first === last ? last : first + 1, t)
  return { first, last, text, value }
}

/** The steps of `x[0] += 1` that one belongs to: the part is changed in place, and then put back to where it is. Of any
 *  other write the op and the step after it that tells what it changed. */
function partChangedAt(index: TraceIndex, step: number): { first: number; last: number } | null {
  const opAt = (at: number): string | null => index.event(at)?.op ?? null
  const endOf = (at: number): number => {
    const op = opAt(at)
    while (op && opAt(at + 1) === op) at += 1
    return at
  }
  const here = endOf(step)
  const isPut = (at: number): boolean => index.op(opAt(at))?.name === 'setitem'
  const last = isPut(here) || !isPut(here + 1) ? here : endOf(here + 1)
  const put = index.op(opAt(last))
  const change = put && augmented(index, put)
  const first = index.stepOfOp.get(change?.id ?? '') ?? last
  const isWhole = change && Array.from({ length: last - first + 1 }, (_, at) => opAt(first + at))
    .every((id) => id === put.id || id === change.id)
  if (isWhole) return { first, last }
  const written = index.stepOfOp.get(opAt(here) ?? '')
  return written === undefined ? null : { first: written, last: here }
}
