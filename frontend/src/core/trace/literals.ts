// Numbers written in a program: where they stand, what one is turned into, and which of them a tensor was made of.

import type { Op, Slider, Span, Tensor, Trace } from '../../api/types'
import type { TraceIndex } from './trace-index'
import { rangeOf } from './edits'
import { wireNumber } from '../words/format'
import { tokens, type Token } from '../words/python'

/** A number in a program's text, its sign with it. */
export interface Literal {
  from: number
  to: number
  text: string
  /** How far it may be turned, where its author says so. */
  range?: Range | undefined
  /** Others that are turned with it. */
  alike?: readonly Literal[]
}

/** The lowest and the highest value of a number, and what lies between two. */
export type Range = Pick<Slider, 'least' | 'most' | 'step'>

/** A number to play with. */
export interface Played {
  /** Its place among all numbers of the program. */
  at: number
  /** How many these are: in an edited program with more or fewer, another number may stand there. */
  of: number
  slider: Slider
}

/** Decimal numbers; what is written in another base, with `_` or `j`, is left alone. */
const NUMBER = /(?<![\w.])(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])/g
const BEFORE_A_SIGN =
  /(?:^|[([{,=:+\-*/%<>&|^~@;]|\b(?:return|in|and|or|not|if|elif|else|while|lambda|yield|assert))\s*$/
/** As far before a sign as is looked. */
const NEAR = 80
const WRITTEN = /^(-?)(\d*)(\.?)(\d*)([eE][+-]?\d+)?$/

/** All numbers of a program, in the order of its text. */
export function literals(code: string): Literal[] {
  const bare = withoutStrings(code)
  return [...bare.matchAll(NUMBER)].map((match) => {
    const isSigned = bare[match.index - 1] === '-' && isPrefix(bare, match.index - 1)
    const from = match.index - (isSigned ? 1 : 0)
    const to = match.index + match[0].length
    return { from, to, text: code.slice(from, to) }
  })
}

/** Whether a minus at a place takes nothing from what stands before it. */
function isPrefix(bare: string, at: number): boolean {
  return BEFORE_A_SIGN.test(bare.slice(Math.max(0, at - NEAR), at))
}

/** The number at a place of the text; a place behind its last letter is at it too. */
export function literalAt(found: readonly Literal[], at: number): Literal | null {
  return found.find(({ from, to }) => from <= at && at <= to) ?? null
}

/** The code with blanks for comments and quotes for strings; every letter keeps its place. */
function withoutStrings(code: string): string {
  return tokens(code).map((line) => line.map(bared).join('')).join('\n')
}

function bared({ text, kind }: Token): string {
  return kind === 'comment' ? ' '.repeat(text.length) : kind === 'string' ? '"'.repeat(text.length) : text
}

/** A number so many tenths of a step on. A step is one for a whole number, else the last place it is written with and
 *  never more than a tenth. Counted in places, so that no rounding shows. */
export function turned(text: string, tenths: number): string {
  const [, sign = '', whole = '', point = '', part = '', power = ''] = WRITTEN.exec(text) ?? []
  const isWhole = point === '' && power === ''
  const isFine = !isWhole && tenths % 10 !== 0
  const places = isWhole ? 0 : Math.max(1, part.length) + (isFine ? 1 : 0)
  const units = Number(`${sign}${whole || 0}${part.padEnd(places, '0')}`) + (isFine ? tenths : Math.round(tenths / 10))
  const digits = String(Math.abs(units)).padStart(places + 1, '0')
  const split = digits.length - places
  return `${units < 0 ? '-' : ''}${digits.slice(0, split)}${isWhole ? '' : `.${digits.slice(split)}`}${power}`
}

/** The same for any number: one with a range stays inside, on its steps. */
export function turnedOn({ text, range }: Literal, tenths: number): string {
  return range ? placed(text, Number(text) + Math.round(tenths / 10) * range.step, range) : turned(text, tenths)
}

/** A value in the place of a number: the nearest one of its range, written as the number is. */
export function placed(text: string, value: number, { least, most, step }: Range): string {
  const bounded = Math.max(least, Math.min(most, value))
  const places = Math.max(/[.e]/i.test(text) ? 1 : 0, ...[least, step].map(placesOf))
  return (least + Math.round((bounded - least) / step) * step).toFixed(places)
}

function placesOf(value: number): number {
  return String(value).split('.')[1]?.length ?? 0
}

const known = new WeakMap<Trace, readonly Played[]>()

/** The numbers of a run's program that its author wants played with. */
export function playedIn(trace: Trace | null): readonly Played[] {
  if (!trace) return []
  const found = known.get(trace) ?? readPlayed(trace)
  known.set(trace, found)
  return found
}

function readPlayed(trace: Trace): Played[] {
  const sliders = (trace.sliders ?? []).filter(({ problem }) => !problem)
  if (sliders.length === 0) return []
  const { code } = trace.program
  const all = literals(code)
  return sliders.flatMap((slider) => {
    const { from } = rangeOf(code, slider.span)
    const at = all.findIndex((literal) => literal.from === from)
    return at < 0 ? [] : [{ at, of: all.length, slider }]
  })
}

/** One of a program's numbers, with its range. */
export function playedAt(all: readonly Literal[], at: number, played: readonly Played[]): Literal | undefined {
  const literal = all[at]
  return literal && { ...literal, range: played.find((one) => one.at === at && one.of === all.length)?.slider }
}

/** What is typed in the place of a number: a float stays one, as the dtype of a tensor depends on it. */
export function typed(before: string, text: string): string {
  return /[.e]/i.test(before) && !/[.e]/i.test(text) ? `${text}.0` : text
}

/** The numbers of a program that differs from one that ran in nothing else: each stands for the same as there. */
export function sameLiterals(ran: string, code: string): readonly Literal[] {
  const now = literals(code)
  const isSame = ran === code || between(ran, literals(ran)).join('\0') === between(code, now).join('\0')
  return isSame ? now : []
}

function between(code: string, numbers: readonly Literal[]): string[] {
  return [...numbers, { from: code.length }].map(({ from }, at) => code.slice(numbers[at - 1]?.to ?? 0, from))
}

/** Whether two programs differ in nothing but one number. */
export function isRetuned(before: string, after: string): boolean {
  const [old, now] = [literals(before), literals(after)]
  if (old.length !== now.length) return false
  const at = old.findIndex(({ text, from }, place) => text !== now[place]!.text || from !== now[place]!.from)
  const [was, is] = [old[at], now[at]]
  return !!was && !!is && put(before, was, is.text) === after
}

/** The program with something else in a number's place, and in that of those turned with it. */
export function put(code: string, literal: Literal, text: string): string {
  return [literal, ...(literal.alike ?? [])]
    .sort((a, b) => b.from - a.from)
    .reduce((turned, { from, to }) => turned.slice(0, from) + text + turned.slice(to), code)
}

const MOST_ELEMENTS = 64
/** Calls that take their numbers as they are written. */
const TAKES_NUMBERS = /^(?:[\w.]*\bParameter\(\s*)?[\w.]*\b(?:tensor|as_tensor|asarray|Tensor|(?:Float|Double|Half|Long|Int)Tensor)\(/

/** For each element of a tensor, which of the program's numbers stands for it; null where the call that made the tensor
 *  was given anything else. Held against the elements, so that a handle never turns another number. Of one that no op
 *  made, its box may say where it was. */
export function elementLiterals(
  index: TraceIndex, tensor: Tensor, drawn?: Span | null,
): readonly number[] | null {
  const { data } = tensor
  const { code } = index.trace.program
  const span = makerOf(index, tensor)?.span ?? drawn
  if (!data || data.length > MOST_ELEMENTS || !span || tensor.dtype.startsWith('complex')) return null
  const { from, to } = rangeOf(code, span)
  const call = TAKES_NUMBERS.exec(code.slice(from, to))
  if (!call) return null
  const [begin, end] = firstArgument(code, from + call[0].length, to)
  const all = literals(code)
  const first = all.findIndex((literal) => literal.from >= begin)
  const own = all.filter((literal) => literal.from >= begin && literal.to <= end)
  const isEach = own.length === data.length && data.every((value, at) => isSame(own[at]!.text, wireNumber(value)))
  const others = between(code.slice(0, end), own).join('').slice(begin)
  return isEach && /^[\s,[\]()]*$/.test(others) ? own.map((_, at) => first + at) : null
}

/** The call that made a tensor's numbers: its own, or that of a tensor whose memory it took over, as a parameter
 *  does. */
function makerOf(index: TraceIndex, { id, storage, shape }: Tensor): Op | undefined {
  const lent = (other: Tensor) => other.storage === storage && String(other.shape) === String(shape)
  const lender = storage ? index.trace.tensors.find((other) => lent(other) && index.producer(other.id)) : undefined
  return index.producer(id) ?? (lender && index.producer(lender.id))
}

/** From a call's bracket to a comma or bracket that none of its first argument's own brackets holds. */
function firstArgument(code: string, begin: number, to: number): [begin: number, end: number] {
  let depth = 0
  for (let at = begin; at < to; at += 1) {
    const letter = code[at]!
    if ('[('.includes(letter)) depth += 1
    else if (depth === 0 && ',)'.includes(letter)) return [begin, at]
    else if ('])'.includes(letter)) depth -= 1
  }
  return [begin, to]
}

/** The same number, as far as single precision tells. */
function isSame(written: string, held: number): boolean {
  return Number(written) === held || Math.fround(Number(written)) === Math.fround(held)
}
