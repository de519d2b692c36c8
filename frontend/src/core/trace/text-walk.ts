// A run as text: every step a sentence, under a heading for each pass and for what happens between passes.

import type { Words } from '../words/sentences'
import { rangeOf } from './fix'
import { passName } from './naming'
import { tell } from './story'
import type { TraceIndex } from './trace-index'

export interface Chapter {
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

/** The sentence of a step with its numbers. */
export function sentenceOf(index: TraceIndex, step: number, t: Words): string {
  const { text, value } = tell(index, step, t)
  return text.endsWith('：') ? text + value : `${text} ${value}`.trim()
}

export interface Told {
  first: number
  last: number
  text: string
}

/** What is told of a step, and from where to where: all that a call of the library does to fill parameters, as
 *  `nn.Linear(4, 4)`, is one sentence. */
export function toldAt(index: TraceIndex, step: number, t: Words): Told {
  const code = fillingAt(index, step)
  const isSame = (at: number): boolean => placeOf(index, at) === placeOf(index, step) && fillingAt(index, at) !== null
  let [first, last] = [step, step]
  while (code !== null && isSame(first - 1)) first -= 1
  while (code !== null && isSame(last + 1)) last += 1
  const filled = new Set<string>()
  for (let at = first; at <= last; at += 1)
    for (const id of index.op(index.event(at)?.op)?.outputs ?? [])
      if (index.tensor(id)?.role === 'parameter') filled.add(index.identity(id))
  if (code === null || filled.size === 0) return { first: step, last: step, text: sentenceOf(index, step, t) }
  return { first, last, text: t('walk.filled', { code, n: filled.size }) }
}

/** The call of the program inside which the library fills a parameter or a buffer at a step, or takes memory for one;
 *  null for what the program does itself. */
function fillingAt(index: TraceIndex, step: number): string | null {
  const op = index.op(index.event(step)?.op)
  if (!op?.span || op.module != null || op.inputs.length > (op.in_place ? 1 : 0)) return null
  const { from, to } = rangeOf(index.trace.program.code, op.span)
  const code = index.trace.program.code.slice(from, to)
  if (code.includes(op.name) || /_\(/.test(code) || op.function.includes('distributed')) return null
  return op.outputs.every((id) => isOfModule(index, id)) ? code : null
}

/** Whether a tensor is, or becomes, a parameter or a buffer, or is memory for one. */
function isOfModule(index: TraceIndex, id: string): boolean {
  const tensor = index.tensor(id)
  const states = index.trace.tensors.filter((other) => index.identity(other.id) === index.identity(id))
  const isBlank = tensor?.contents === 'uninitialised' && !tensor.names
  return isBlank || states.some(({ role }) => role === 'parameter' || role === 'buffer')
}

function placeOf(index: TraceIndex, step: number): string {
  return JSON.stringify(index.event(step)?.span)
}
