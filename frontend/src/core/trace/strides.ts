// Strides through the timeline: one thing on or back, over a module's call or a pass, out of a loop.

import type { Step } from '../../api/types'
import { fillingAt } from './filling'
import { lineOf } from './lines'
import type { TraceIndex } from './trace-index'

/** The next step; the filling of a layer's parameters is one. */
export function on(index: TraceIndex, step: number): number {
  return wholeOf(index, Math.min(step + 1, index.trace.timeline.length))
}

/** The same the other way. */
export function back(index: TraceIndex, step: number): number {
  return (fillingAt(index, step)?.first ?? Math.max(step, 1)) - 1
}

/** The end of the filling that a step is in, or the step. */
export function wholeOf(index: TraceIndex, step: number): number {
  return fillingAt(index, step)?.last ?? step
}

/** The step at which what comes next is over: a whole call of a module, a whole pass, also one that has just begun,
 *  else the next step. */
export function over(index: TraceIndex, step: number): number {
  const { timeline } = index.trace
  const next = timeline[timeline[step - 1]?.kind === 'pass' ? step - 1 : step]
  const end = next ? timeline.findIndex((event, at) => at > step && ends(event, next)) : -1
  return end >= 0 ? end + 1 : on(index, step)
}

/** The same the other way: before the call or pass that has just ended. */
export function overBack(index: TraceIndex, step: number): number {
  const { timeline } = index.trace
  const last = timeline[step - 1]
  const begin = last ? timeline.slice(0, step - 1).findLastIndex((event) => ends(last, event)) : -1
  return begin >= 0 ? begin : back(index, step)
}

function ends(event: Step, begun: Step): boolean {
  if (event.kind === 'call_end') return begun.kind === 'call' && event.call === begun.call
  return event.kind === 'pass_end' && begun.kind === 'pass' && event.pass === begun.pass
}

/** Steps on any of these lines, in order; of a run of events on the same line, the first. */
export function stepsOn(index: TraceIndex, lines: ReadonlySet<number>): number[] {
  const found: number[] = []
  if (lines.size === 0) return found
  let before: number | null = null
  for (let at = 1; at <= index.trace.timeline.length; at += 1) {
    const line = lineOf(index, at)
    if (line !== null && line !== before && lines.has(line)) found.push(wholeOf(index, at))
    before = line ?? before
  }
  return found
}

/** The first step after the call, pass or loop that a step is in; the end of the run where it is in none. */
export function out(index: TraceIndex, step: number): number {
  const { timeline } = index.trace
  const opened = openAt(timeline, step)
  const ended = opened ? timeline.findIndex((event, at) => at >= step && ends(event, opened)) : -1
  const left = afterLoop(index, step)
  const found = [ended < 0 ? null : ended + 1, left].filter((at) => at !== null)
  return found.length > 0 ? wholeOf(index, Math.min(...found)) : timeline.length
}

/** The call or pass begun last that has not ended at a step. */
function openAt(timeline: readonly Step[], step: number): Step | undefined {
  const open: Step[] = []
  for (const event of timeline.slice(0, step)) {
    if (event.kind === 'call' || event.kind === 'pass') open.push(event)
    else if (open.length > 0 && ends(event, open.at(-1)!)) open.pop()
  }
  return open.at(-1)
}

/** The first step on a line behind the innermost loop around a step's line, in the same function. */
function afterLoop(index: TraceIndex, step: number): number | null {
  const lines = index.trace.program.code.split('\n')
  const line = lineOf(index, step)
  const loop = line === null ? null : blockAround(lines, line, /^\s*(async\s+)?(for|while)\b/)
  if (!loop) return null
  const home = blockAround(lines, loop.first, DEFINITION)?.first
  for (let at = step + 1; at <= index.trace.timeline.length; at += 1) {
    const here = lineOf(index, at)
    if (here === null || (here >= loop.first && here <= loop.last)) continue
    if (blockAround(lines, here, DEFINITION)?.first === home) return at
  }
  return null
}

const DEFINITION = /^\s*(async\s+)?(def|class)\b/

interface Block {
  first: number
  last: number
}

/** The innermost block around a line whose first line looks like that, by indentation. */
function blockAround(lines: readonly string[], line: number, head: RegExp): Block | null {
  let indent = indentOf(lines[line - 1] ?? '')
  for (let first = line; first >= 1; first -= 1) {
    const text = lines[first - 1] ?? ''
    if (isBlank(text) || (first < line && indentOf(text) >= indent)) continue
    indent = indentOf(text)
    if (head.test(text)) return { first, last: lastOf(lines, first) }
  }
  return null
}

function lastOf(lines: readonly string[], first: number): number {
  const indent = indentOf(lines[first - 1] ?? '')
  const next = lines.findIndex((text, at) => at >= first && !isBlank(text) && indentOf(text) <= indent)
  return next < 0 ? lines.length : next
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length
}

function isBlank(text: string): boolean {
  return /^\s*(#|$)/.test(text)
}
