// Which of the program's numbers stands for a plain number among an op's operands, such as the 3 of `3 * x`.

import type { Box, Op } from '../../api/types'
import { rangeOf } from './edits'
import { elementLiterals, literals, type Literal } from './literals'
import { Scopes } from './scopes'
import type { TraceIndex } from './trace-index'

const known = new WeakMap<Op, readonly (number | null)[]>()

/** For each constant of a box, as `3.0` or `min=0`, its place among all numbers of the program: where it is written in
 *  the expression, or given a name once and for all, or to the call that made a tensor of it; null for one that is
 *  worked out. Held against the constants, so that a handle never turns another number. */
export function constantLiterals(index: TraceIndex, op: Op, box: Box): readonly (number | null)[] {
  const found = known.get(op) ?? findLiterals(index, op, box)
  known.set(op, found)
  return found
}

function findLiterals(
  index: TraceIndex, { span, name }: Op, { constants = [], constant_tensors: tensors = [] }: Box,
): (number | null)[] {
  const { code } = index.trace.program
  const { from, to } = span ? rangeOf(code, span) : { from: 0, to: 0 }
  const text = code.slice(from, to)
  const within = rangesWithin(index, from, to)
  const all = literals(code)
  const written = all.map((literal, place) => ({ ...literal, place }))
  const named = [...text.matchAll(NAME)].flatMap((match) => {
    const place = placeOfNamed(code, all, match[0])
    const at = from + match.index
    return place === null ? [] : [{ from: at, to: at + match[0].length, place }]
  })
  const operands = [...written, ...named].sort((a, b) => a.from - b.from).flatMap((operand) => {
    const isOwn = from <= operand.from && operand.to <= to && !within.some(
      (other) => other.from <= operand.from && operand.to <= other.to,
    )
    const isGiven = isOwn && isOperand(text, name, operand.from - from, operand.to - from)
    return isGiven ? [{ place: operand.place, value: Number(all[operand.place]!.text) }] : []
  })
  const values = constants.map((constant, at) => tensors[at] ? NaN : Number(constant.slice(constant.indexOf('=') + 1)))
  return values.map((value, at) => {
    const tensor = index.tensor(tensors[at])
    const own = tensor ? (elementLiterals(index, tensor) ?? []) : []
    if (own.length === 1) return own[0]!
    const alike = operands.filter((operand) => operand.value === value)
    const nth = values.slice(0, at).filter((other) => other === value).length
    const isSure = alike.length === values.filter((other) => other === value).length
    return (isSure ? alike[nth]?.place : null) ?? null
  })
}

/** A name by itself: no attribute, no call. */
const NAME = /(?<![\p{L}\p{N}_.])[\p{L}_][\p{L}\p{N}_]*(?![\p{L}\p{N}_]|\s*[.([])/gu

/** Of a name that a program binds once, to a number as `k = 3.0`, the place of that number. */
function placeOfNamed(code: string, all: readonly Literal[], name: string): number | null {
  const own = new RegExp(`^[ \\t]*${name}\\s*(?::\\s*[\\w.]+\\s*)?=\\s*$`, 'u')
  const place = all.findIndex(({ from, to }) =>
    own.test(code.slice(code.lastIndexOf('\n', from) + 1, from)) && /^[ \t]*(#.*)?$/.test(lineFrom(code, to)))
  return place >= 0 && new Scopes(code).isBoundOnce(name) ? place : null
}

function lineFrom(code: string, at: number): string {
  return code.slice(at).split('\n', 1)[0]!
}

/** Where ops stand inside an expression. */
function rangesWithin(index: TraceIndex, from: number, to: number): { from: number; to: number }[] {
  const { code } = index.trace.program
  const spans = new Map(index.trace.ops.flatMap(({ span }) => (span ? [[Object.values(span).join(), span]] : [])))
  return [...spans.values()]
    .map((span) => rangeOf(code, span))
    .filter((other) => from <= other.from && other.to <= to && other.to - other.from < to - from)
}

/** Whether what stands at a place of an expression is in none of its brackets, or is an argument of the call that it
 *  is. */
function isOperand(text: string, name: string, from: number, to: number): boolean {
  const [open, ...more] = bracketsAt(text, from)
  if (open === undefined) return true
  const [last, ...others] = bracketsAt(text, text.length - 1)
  const isCall = last === open && others.length === 0 && text.slice(0, open).endsWith(name)
  return isCall && more.length === 0 && /[(,=]\s*$/.test(text.slice(0, from)) && /^\s*[,)]/.test(text.slice(to))
}

/** The brackets that are open at a place. */
function bracketsAt(text: string, end: number): number[] {
  const open: number[] = []
  for (let at = 0; at < end; at += 1) {
    if ('([{'.includes(text[at]!)) open.push(at)
    else if (')]}'.includes(text[at]!)) open.pop()
  }
  return open
}
