// What a program asks its reader, and what an answer is worth.

import type { Mistake, Question, Trace } from '../../api/types'
import { formatNumber } from '../words/format'

/** What came of an answer: right, wrong for a reason that is known, wrong, or not understood. */
export type Verdict = 'right' | Mistake['code'] | 'shape' | 'wrong' | 'unread'

/** How far a number may be off, of itself and at all: nobody is asked for more digits than the page shows. */
const OFF = 0.005
const OFF_AT_ALL = 0.0005

/** Questions that can be asked, in order; those the trace cannot answer are for their author. */
export function askable(trace: Trace): readonly Question[] {
  return (trace.questions ?? []).filter(({ problem }) => !problem)
}

/** What tells one question of one program from all others. */
export function keyOf({ program }: Trace, question: Question): string {
  let hash = 0
  for (const letter of program.code) hash = (hash * 31 + letter.charCodeAt(0)) | 0
  return `${(hash >>> 0).toString(36)}.${question.span.line}.${question.text}`
}

export function judge(question: Question, given: string): Verdict {
  if (question.kind === 'choice') return given === question.answer ? 'right' : 'wrong'
  if (/^\s*none\s*$/i.test(given)) return question.is_none ? 'right' : 'wrong'
  const numbers = numbersIn(given)
  if (!numbers) return 'unread'
  if (question.is_none) return 'wrong'
  const { data = [], mistakes = [] } = question
  if (same(numbers, data)) return 'right'
  const known = mistakes.find((mistake) => same(numbers, mistake.data))
  return known?.code ?? (numbers.length === data.length ? 'wrong' : 'shape')
}

/** The numbers of `[[1, 2], [3, 1/2]]`, `(2, 3)`, `torch.Size([2, 3])`, `1 2 3` …; null where something else stands
 *  there too. */
export function numbersIn(text: string): readonly number[] | null {
  const plain = text
    .replace(/^\s*(?:torch\.size|tensor|size)\s*\(/i, '(')
    .replace(/[−–—]/g, '-')
    .replace(/[()[\]{}（）【】,，;；、×x]/g, ' ')
    .replace(/\s*\/\s*/g, '/')
    .replace(/-\s+/g, '-')
    .trim()
  const numbers = plain === '' ? [] : plain.split(/\s+/).map(numberIn)
  const isEmpty = numbers.length === 0 && !/[([]/.test(text)
  return isEmpty || numbers.some(Number.isNaN) ? null : numbers
}

function numberIn(word: string): number {
  const [, above = '', below] = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:\/(\d+\.?\d*))?$/i.exec(word) ?? []
  return above === '' ? NaN : Number(above) / Number(below ?? 1)
}

function same(given: readonly number[], wanted: readonly (boolean | number | string)[]): boolean {
  return (
    given.length === wanted.length &&
    given.every((number, at) => Math.abs(number - Number(wanted[at])) <= allowed(Number(wanted[at])))
  )
}

function allowed(wanted: number): number {
  return Math.max(OFF * Math.abs(wanted), OFF_AT_ALL)
}

/** The answer as one would type it. */
export function answerOf({ kind, data = [], shape = [], answer = '', is_none }: Question): string {
  if (kind === 'choice') return answer
  if (is_none) return 'None'
  if (kind === 'shape') return `(${data.join(', ')})`
  return bracketed(data.map((value) => formatNumber(Number(value))), shape)
}

function bracketed(texts: readonly string[], [size, ...rest]: readonly number[]): string {
  if (size === undefined) return texts[0] ?? ''
  const each = texts.length / Math.max(1, size)
  const rows = Array.from({ length: size }, (_, at) => bracketed(texts.slice(at * each, (at + 1) * each), rest))
  return `[${rows.join(', ')}]`
}
