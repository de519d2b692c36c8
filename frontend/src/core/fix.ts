// The fix of a finding: edits put into the program, and what they change line by line.

import type { Edit, Span } from '../api/types'

/** The program with all edits in it. They concern stretches that do not overlap; columns count code points, as Python does. */
export function applyEdits(code: string, edits: readonly Edit[]): string {
  const starts = lineStarts(code)
  const placed = edits.map(({ span, text }) => ({ ...range(code, starts, span), text })).sort((a, b) => b.from - a.from)
  return placed.reduce((fixed, { from, to, text }) => fixed.slice(0, from) + text + fixed.slice(to), code)
}

function lineStarts(code: string): number[] {
  const starts = [0]
  for (let at = code.indexOf('\n'); at >= 0; at = code.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

function range(code: string, starts: readonly number[], span: Span): { from: number; to: number } {
  const from = offset(code, starts, span.line, span.column)
  return { from, to: Math.max(from, offset(code, starts, span.end_line, span.end_column)) }
}

function offset(code: string, starts: readonly number[], line: number, column: number): number {
  const start = starts[line - 1]
  if (start === undefined) return code.length
  const end = (starts[line] ?? code.length + 1) - 1
  let units = 0
  let points = 0
  for (const letter of code.slice(start, end)) {
    if (points >= column) break
    units += letter.length
    points += 1
  }
  return start + units
}

/** One line that goes or comes, split where it differs from its counterpart. */
export interface ChangedLine {
  kind: 'old' | 'new'
  /** Its number in the program it belongs to. */
  line: number
  head: string
  changed: string
  tail: string
}

const MOST_LINES = 400

/** The lines that differ: those that go, then those that come, place by place. */
export function changedLines(before: string, after: string): ChangedLine[] {
  const [old, next] = [before.split('\n'), after.split('\n')]
  let head = 0
  while (head < old.length && head < next.length && old[head] === next[head]) head += 1
  let tail = 0
  while (tail < old.length - head && tail < next.length - head && old[old.length - 1 - tail] === next[next.length - 1 - tail]) tail += 1
  const gone = old.slice(head, old.length - tail)
  const come = next.slice(head, next.length - tail)
  return stretches(gone, come).flatMap(({ from, to, of, until }) => paired(gone.slice(from, to), come.slice(of, until), head + from + 1, head + of + 1))
}

interface Stretch {
  from: number
  to: number
  of: number
  until: number
}

/** Where two lists differ, by their longest common subsequence; all of it when they are too long to compare. */
function stretches(old: readonly string[], next: readonly string[]): Stretch[] {
  const whole = [{ from: 0, to: old.length, of: 0, until: next.length }]
  if (old.length > MOST_LINES || next.length > MOST_LINES) return whole
  const width = next.length + 1
  const common = new Uint16Array((old.length + 1) * width)
  for (let a = old.length - 1; a >= 0; a -= 1) {
    for (let b = next.length - 1; b >= 0; b -= 1) {
      common[a * width + b] = old[a] === next[b] ? common[(a + 1) * width + b + 1]! + 1 : Math.max(common[(a + 1) * width + b]!, common[a * width + b + 1]!)
    }
  }
  const found: Stretch[] = []
  let [a, b] = [0, 0]
  while (a < old.length || b < next.length) {
    const [from, of] = [a, b]
    while ((a < old.length || b < next.length) && !(a < old.length && b < next.length && old[a] === next[b])) {
      if (b >= next.length || (a < old.length && common[(a + 1) * width + b]! >= common[a * width + b + 1]!)) a += 1
      else b += 1
    }
    if (a > from || b > of) found.push({ from, to: a, of, until: b })
    a += 1
    b += 1
  }
  return found
}

/** Lines that go and come at one place; where as many go as come, each pair shows only what differs. */
function paired(gone: readonly string[], come: readonly string[], line: number, of: number): ChangedLine[] {
  const isPair = gone.length === come.length
  const split = (text: string, other: string | undefined): Pick<ChangedLine, 'head' | 'changed' | 'tail'> => {
    if (!isPair || other === undefined) return { head: '', changed: text, tail: '' }
    const [letters, others] = [[...text], [...other]]
    const most = Math.min(letters.length, others.length)
    let head = 0
    while (head < most && letters[head] === others[head]) head += 1
    let tail = 0
    while (tail < most - head && letters[letters.length - 1 - tail] === others[others.length - 1 - tail]) tail += 1
    const end = letters.length - tail
    return { head: letters.slice(0, head).join(''), changed: letters.slice(head, end).join(''), tail: letters.slice(end).join('') }
  }
  return [
    ...gone.map((text, at): ChangedLine => ({ kind: 'old', line: line + at, ...split(text, come[at]) })),
    ...come.map((text, at): ChangedLine => ({ kind: 'new', line: of + at, ...split(text, gone[at]) })),
  ]
}
