// Which of the program's numbers stands for a plain number among an op's operands, such as the 3 of `3 * x`.

import type { Op } from '../../api/types'
import { rangeOf } from './fix'
import { literals } from './literals'
import type { TraceIndex } from './trace-index'

const known = new WeakMap<Op, readonly (number | null)[]>()

/** For each constant of a box, as `3.0` or `min=0`, its place among all numbers of the program; null for one that is
 *  worked out or named. Held against the constants, so that a handle never turns another number. */
export function constantLiterals(index: TraceIndex, op: Op, constants: readonly string[]): readonly (number | null)[] {
  const found = known.get(op) ?? findLiterals(index, op, constants)
  known.set(op, found)
  return found
}

function findLiterals(index: TraceIndex, { span, name }: Op, constants: readonly string[]): (number | null)[] {
  const { code } = index.trace.program
  const { from, to } = span ? rangeOf(code, span) : { from: 0, to: 0 }
  const text = code.slice(from, to)
  const within = rangesWithin(index, from, to)
  const operands = literals(code).flatMap((literal, place) => {
    const isOwn = from <= literal.from && literal.to <= to && !within.some(
      (other) => other.from <= literal.from && literal.to <= other.to,
    )
    const isGiven = isOwn && isOperand(text, name, literal.from - from, literal.to - from)
    return isGiven ? [{ place, value: Number(literal.text) }] : []
  })
  const values = constants.map((constant) => Number(constant.slice(constant.indexOf('=') + 1)))
  return values.map((value, at) => {
    const alike = operands.filter((operand) => operand.value === value)
    const nth = values.slice(0, at).filter((other) => other === value).length
    const isSure = alike.length === values.filter((other) => other === value).length
    return (isSure ? alike[nth]?.place : null) ?? null
  })
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
