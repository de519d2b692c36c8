// Which lines of the program have run, run now and come next at a step.

import type { Span, Trace } from '../../api/types'
import type { TraceIndex } from './trace-index'
import type { Words } from '../words/sentences'
import { nodeOfStep } from './steps'
import type { LineMarks } from './line-marks'

/** Lines that hold a statement: neither blank nor only a comment. */
function statements(code: string): number[] {
  const found: number[] = []
  code.split('\n').forEach((line, at) => {
    if (line.trim() && !line.trim().startsWith('#')) found.push(at + 1)
  })
  return found
}

function isTopLevel(line: string | undefined): boolean {
  return line !== undefined && /^\S/.test(line)
}

/** What a listing shows of a step. */
export function linesAt(index: TraceIndex, step: number, lit: ReadonlySet<number>, t: Words): LineMarks {
  const { trace } = index
  const atEnd = step >= trace.timeline.length
  const running = lineOf(index, step) ?? (atEnd && trace.timeline.length > 0 ? lastLine(index) : null)
  return {
    done: doneLines(index, step, running),
    running: trace.failure?.kind === 'syntax' ? null : running,
    next: nextLine(index, step, running),
    gradient: concernedAt(index, step)?.line ?? null,
    failed: failedAt(index, step)?.line ?? null,
    found: new Set(tellingFindings(trace).map(({ line }) => line)),
    idle: new Set(trace.lines_not_run ?? []),
    unrecorded: unrecordedLines(trace),
    lit,
    words: {
      running: t('mark.running'),
      next: t('mark.next'),
      gradient: t('mark.gradient'),
      failed: t('mark.failed'),
      done: t('mark.done'),
      found: t('panel.findings'),
      idle: t('mark.idle'),
      unrecorded: t('mark.unrecorded'),
    },
  }
}

/** The code whose gradient is worked out at a step: that of the node's op, or for a leaf of the op that made it. */
export function concernedAt(index: TraceIndex, step: number): Span | null {
  const event = index.event(step)
  const node = isBackward(event?.kind) ? nodeOfStep(index, event) : undefined
  const op = node && (index.op(node.op) ?? (node.variable ? index.producer(node.variable) : undefined))
  return op?.span ?? null
}

/** Where the program failed, once it has. */
export function failedAt(index: TraceIndex, step: number): Span | null {
  const { failure, timeline } = index.trace
  return failure?.span && (step >= timeline.length || index.event(step)?.kind === 'failure') ? failure.span : null
}

/** The code of findings that are more than a note and follow from no other one. */
export function tellingFindings({ findings }: Trace): Span[] {
  return findings.flatMap(({ span, severity, follows }) =>
    span && severity !== 'note' && follows == null ? [span] : [])
}

/** Lines of the program that `no_grad` or `inference_mode` was about: no operation on them was recorded. */
function unrecordedLines(trace: Trace): Set<number> {
  const found = new Set<number>()
  const recorded = new Set<number>()
  for (const { span, grad_mode } of trace.ops) {
    if (!span) continue
    for (let line = span.line; line <= span.end_line; line += 1)
      (grad_mode && grad_mode !== 'grad' ? found : recorded).add(line)
  }
  for (const line of recorded) found.delete(line)
  return found
}

/** The line that runs at a step; while a pass runs, the line that called it. */
export function lineOf(index: TraceIndex, step: number): number | null {
  const event = index.event(step)
  const span = event?.span ?? (event?.pass ? index.passes.get(event.pass)?.span : undefined)
  return span?.line ?? null
}

function isBackward(kind: string | undefined): boolean {
  return (
    kind === 'seed' ||
    kind === 'visit' ||
    kind === 'sum' ||
    kind === 'reduce' ||
    kind === 'hook' ||
    kind === 'accumulate'
  )
}

function lastLine(index: TraceIndex): number | null {
  for (let at = index.trace.timeline.length; at > 0; at -= 1) {
    const line = lineOf(index, at)
    if (line !== null) return line
  }
  return null
}

function doneLines(index: TraceIndex, step: number, running: number | null): Set<number> {
  const done = new Set<number>()
  if (index.trace.failure?.kind === 'syntax') return done
  const code = index.trace.program.code
  const lines = code.split('\n')
  let last = 0
  for (let at = 1; at <= step; at += 1) {
    const line = lineOf(index, at)
    if (line === null) continue
    done.add(line)
    if (isTopLevel(lines[line - 1])) last = Math.max(last, line)
  }
  if (running !== null && isTopLevel(lines[running - 1])) last = Math.max(last, running)
  for (const line of statements(code)) if (line < last && isTopLevel(lines[line - 1])) done.add(line)
  return done
}

function nextLine(index: TraceIndex, step: number, running: number | null): number | null {
  const { timeline } = index.trace
  for (let at = step; at < timeline.length; at += 1) {
    const line = lineOf(index, at + 1)
    if (line !== null && line !== running) return line
  }
  return null
}
