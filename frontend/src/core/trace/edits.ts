// Places of a program in its text, and edits put into it.

import type { Edit, Span } from '../../api/types'

/** The program with all edits in it. They concern stretches that do not overlap; columns count code points, as Python
 *  does. */
export function applyEdits(code: string, edits: readonly Edit[]): string {
  const starts = lineStarts(code)
  const placed = edits.map(({ span, text }) => ({ ...range(code, starts, span), text })).sort((a, b) => b.from - a.from)
  return placed.reduce((fixed, { from, to, text }) => fixed.slice(0, from) + text + fixed.slice(to), code)
}

/** Where a span of a program begins and ends in its text. */
export function rangeOf(code: string, span: Span): { from: number; to: number } {
  return range(code, lineStarts(code), span)
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
