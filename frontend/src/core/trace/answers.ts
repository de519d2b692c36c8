// A question in words, and what an answer is worth.

import type { Box, Mistake, Question, Trace } from '../../api/types'
import type { Lang } from '../state'
import { formatNumber } from '../words/format'
import type { Words } from '../words/sentences'

/** What came of an answer: right, wrong for a reason that is known, wrong, or not understood. */
export type Verdict =
  | 'right' | Mistake['code'] | 'shape' | 'brackets' | 'axes' | 'order' | 'missing' | 'extra' | 'wrong' | 'unread'

/** How far a number may be off, of itself and at all: nobody is asked for more digits than the page shows. */
const OFF = 0.005
const OFF_AT_ALL = 0.0005

export function judge(question: Question, given: string): Verdict {
  if (question.kind === 'choice') return given === question.answer ? 'right' : 'wrong'
  if (question.kind === 'flow') return judgeFlow(question, given)
  if (/^\s*none\s*$/i.test(given)) return question.is_none ? 'right' : 'wrong'
  const numbers = numbersIn(given)
  if (!numbers) return 'unread'
  if (question.is_none) return 'wrong'
  if (question.kind === 'line') return judgeLine(question, numbers)
  return question.kind === 'shape' ? judgeShape(question, numbers) : judgeNumbers(question, numbers, given)
}

function judgeNumbers(
  { data = [], mistakes = [], shape = [] }: Question, numbers: readonly number[], given: string,
): Verdict {
  if (means(numbers, data)) return isShaped(given, shape) ? 'right' : 'brackets'
  const known = mistakes.find((mistake) => means(numbers, mistake.data))
  return known?.code ?? (numbers.length === data.length ? 'wrong' : 'shape')
}

function judgeShape({ data = [] }: Question, sizes: readonly number[]): Verdict {
  if (same(sizes, data)) return 'right'
  if (sizes.length !== data.length) return 'axes'
  const sorted = [sizes, data.map(Number)].map((all) => [...all].sort((a, b) => a - b).join())
  return sorted[0] === sorted[1] ? 'order' : 'wrong'
}

/** Whether brackets in brackets, where there are any, make the answer's rows of the numbers. */
function isShaped(given: string, shape: readonly number[]): boolean {
  const text = spelled(given)
  const square = text.includes('[') ? text.replace(/[(){}]/g, '') : text.replace(/[({]/g, '[').replace(/[)}]/g, ']')
  const rows = square.replace(/[^[\],;、×x\s]+/g, '#').replace(/[^[\]#]/g, '')
  const wanted = bracketed(Array<string>(shape.reduce((all, size) => all * size, 1)).fill('#'), shape).replace(/, /g, '')
  return !/\[\[|\]\[/.test(rows) || rows === wanted || `[${rows}]` === wanted
}

/** Any line of the statement is right. */
function judgeLine({ data = [], mistakes = [] }: Question, [line = 0, ...more]: readonly number[]): Verdict {
  if (more.length > 0) return 'unread'
  if (Number(data[0]) <= line && line <= Number(data[1])) return 'right'
  return mistakes.find((mistake) => mistake.data.includes(line))?.code ?? 'wrong'
}

function judgeFlow(question: Question, given: string): Verdict {
  const [chosen, wanted] = [chosenIn(question, given), chosenIn(question, question.answer ?? '')]
  const [missing, extra] = [wanted.some((one) => !chosen.includes(one)), chosen.some((one) => !wanted.includes(one))]
  return missing ? (extra ? 'wrong' : 'missing') : extra ? 'extra' : 'right'
}

/** Those of a question's choices that a text names, with `, ` between. */
export function chosenIn({ choices = [] }: Question, text: string): readonly string[] {
  const named = new Set(text.split(/\s*[,，、]\s*/))
  return choices.filter((choice) => named.has(choice))
}

/** Choices as one text: the same for the same ones. */
export function together({ choices = [] }: Question, chosen: readonly string[]): string {
  return choices.filter((choice) => chosen.includes(choice)).join(', ')
}

/** The choice that a box of the graph stands for. */
export function partOf({ choices = [], parts = [] }: Question, { op, tensor }: Box): string | undefined {
  return choices[parts.indexOf(op ?? '')] ?? choices[parts.indexOf(tensor ?? '')]
}

/** The numbers of `[[1, 2], [3, 1/2]]`, `(2, 3)`, `torch.Size([2, 3])`, `1 2 3` …; null where something else stands
 *  there too. */
export function numbersIn(text: string): readonly number[] | null {
  const plain = spelled(text).replace(/[()[\]{},;、×x]/g, ' ').trim()
  const numbers = plain === '' ? [] : plain.split(/\s+/).map(numberIn)
  const isEmpty = numbers.length === 0 && !/[([]/.test(text)
  return isEmpty || numbers.some(Number.isNaN) ? null : numbers
}

/** The text in one spelling: no full-width letters, one minus, and each number in one piece. */
function spelled(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/^\s*(?:torch\.size|tensor|size)\s*\(/i, '(')
    .replace(/[−–—]/g, '-')
    .replace(/【/g, '[')
    .replace(/】/g, ']')
    .replace(/\s*\/\s*/g, '/')
    .replace(/-\s+/g, '-')
}

function numberIn(word: string): number {
  const [, above = '', below] = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:\/(\d+\.?\d*))?$/i.exec(word) ?? []
  return above === '' ? NaN : Number(above) / Number(below ?? 1)
}

/** Whether two answers in numbers say the same. */
export function saysSame(given: readonly number[], other: readonly number[]): boolean {
  return means(given, other) || means(other, given)
}

/** Whether an answer says some numbers: all of them, or the one that all of them are. */
function means(given: readonly number[], wanted: readonly (boolean | number | string)[]): boolean {
  return same(given.length === 1 ? wanted.map(() => given[0]!) : given, wanted)
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

/** What a lesson's own words say of a question. */
export interface Written {
  ask: string
  why: string
}

const NUMBER = /(?<![\w.])[-−]?\d/

/** A lesson's words for a run of what its program has become: with other numbers, those that name numbers are none. */
export function writtenFor({ program }: Trace, own: string, written: readonly Written[] = []): readonly Written[] {
  if (program.code === own) return written
  const still = (words: string): string => (NUMBER.test(words) ? '' : words)
  return written.map(({ ask, why }) => ({ ask: still(ask), why: still(why) }))
}

/** Those of a question, where the program still has as many. */
function writtenOf(
  { questions = [] }: Trace, question: Question, written: readonly Written[],
): Written | undefined {
  return written.length === questions.length ? written[questions.indexOf(question)] : undefined
}

/** The question: in a lesson's words, where it has some. */
export function askedAs(trace: Trace, question: Question, written: readonly Written[], t: Words): string {
  return writtenOf(trace, question, written)?.ask || askOf(question, t)
}

/** What is said after the answer: by the lesson, or else by the program's author; empty for nothing. */
export function reasonOf(trace: Trace, question: Question, written: readonly Written[], lang: Lang): string {
  const { why = {} } = question
  return writtenOf(trace, question, written)?.why || (why[lang] ?? why[''] ?? '')
}

/** The question in words. */
function askOf({ kind, text: what, line, visit: n }: Question, t: Words): string {
  if (kind === 'line' || kind === 'flow') return t(`question.ask.${kind}`, { line })
  return t(n ? 'question.ask.visit' : 'question.ask', { what, line, n: n ?? 0, is_number: Number(kind === 'number') })
}

/** The answer as one would type it. */
export function answerOf({ kind, data = [], shape = [], answer = '', is_none }: Question): string {
  if (kind === 'choice' || kind === 'flow') return answer || '∅'
  if (is_none) return 'None'
  if (kind === 'line') return [...new Set(data)].join('–')
  if (kind === 'shape') return `(${data.join(', ')}${data.length === 1 ? ',' : ''})`
  return bracketed(data.map((value) => formatNumber(Number(value))), shape)
}

function bracketed(texts: readonly string[], [size, ...rest]: readonly number[]): string {
  if (size === undefined) return texts[0] ?? ''
  const each = texts.length / Math.max(1, size)
  const rows = Array.from({ length: size }, (_, at) => bracketed(texts.slice(at * each, (at + 1) * each), rest))
  return `[${rows.join(', ')}]`
}
