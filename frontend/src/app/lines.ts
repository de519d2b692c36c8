// Which lines of the program have run, run now and come next at a step, and what stands at their ends.

import type { Box, Span, Trace } from '../api/types'
import { formatBytes } from '../core/format'
import type { TraceIndex } from '../core/trace'
import type { Words } from '../core/sentences'
import { briefLine } from './naming'
import { nodeOfStep } from './story'
import type { LineBlock, LineNote, Marks, SpanMark } from './marks'

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

export interface Choice {
  step: number
  selected: Box | undefined
  lit: ReadonlySet<number>
  blocks: readonly LineBlock[]
}

export function marksAt(index: TraceIndex, choice: Choice, t: Words): Marks {
  const { trace } = index
  const event = index.event(choice.step)
  const code = trace.program.code
  const atEnd = choice.step >= trace.timeline.length
  const failed = trace.failure?.span && (atEnd || event?.kind === 'failure') ? trace.failure.span.line : null
  const running = lineOf(index, choice.step) ?? (atEnd && trace.timeline.length > 0 ? lastLine(index) : null)
  const spans: SpanMark[] = []
  const concerned = isBackward(event?.kind) ? spanOf(index, choice.step) : null
  if (concerned) spans.push({ span: concerned, kind: 'gradient' })
  if (choice.selected?.span) spans.push({ span: choice.selected.span, kind: 'selected' })
  if (failed !== null && trace.failure?.span) spans.push({ span: trace.failure.span, kind: 'failed' })
  const found = new Set<number>()
  for (const finding of trace.findings) {
    if (!finding.span || finding.severity === 'note') continue
    found.add(finding.span.line)
    spans.push({ span: finding.span, kind: 'finding' })
  }
  return {
    done: doneLines(index, choice.step, running),
    running: trace.failure?.kind === 'syntax' ? null : running,
    next: nextLine(index, choice.step, running),
    gradient: concerned?.line ?? null,
    failed,
    found,
    idle: new Set(trace.lines_not_run ?? []),
    unrecorded: unrecordedLines(trace),
    lit: choice.lit,
    notes: notesAt(index, choice.step, code),
    spans,
    blocks: choice.blocks,
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

/** Lines of the program that `no_grad` or `inference_mode` was about: no operation on them was recorded. */
function unrecordedLines(trace: Trace): Set<number> {
  const found = new Set<number>()
  const recorded = new Set<number>()
  for (const { span, grad_mode } of trace.ops) {
    if (!span) continue
    for (let line = span.line; line <= span.end_line; line += 1) (grad_mode && grad_mode !== 'grad' ? found : recorded).add(line)
  }
  for (const line of recorded) found.delete(line)
  return found
}

/** The line that runs at a step; while a pass runs, the line that called it. */
function lineOf(index: TraceIndex, step: number): number | null {
  const event = index.event(step)
  const span = event?.span ?? (event?.pass ? index.passes.get(event.pass)?.span : undefined)
  return span?.line ?? null
}

function isBackward(kind: string | undefined): boolean {
  return kind === 'seed' || kind === 'visit' || kind === 'sum' || kind === 'reduce' || kind === 'hook' || kind === 'accumulate'
}

/** The code of what a step concerns: the node's op, or for a leaf the op that made it. */
function spanOf(index: TraceIndex, step: number): Span | null {
  const node = nodeOfStep(index, index.event(step))
  if (!node) return null
  const op = index.op(node.op) ?? (node.variable ? index.producer(node.variable) : undefined)
  return op?.span ?? null
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

/** What each line copies between devices, or would copy on a GPU. */
function copiesAt(trace: Trace): Map<number, string> {
  const found = new Map<number, string>()
  for (const { span, to, size_bytes } of trace.transfers ?? []) if (span) found.set(span.end_line, `→ ${to === 'cpu' ? 'CPU' : 'GPU'} ${formatBytes(size_bytes)}`)
  return found
}

/** What each line's statement gave, up to the step: the result of its last op; nothing where that raised. */
function notesAt(index: TraceIndex, step: number, code: string): Map<number, LineNote> {
  const last = new Map<number, string>()
  const refused = new Set<number>()
  for (let at = 1; at <= step; at += 1) {
    const event = index.event(at)
    const op = event?.kind === 'op' ? index.op(event.op) : undefined
    if (op?.span && op.raised) refused.add(op.span.end_line)
    else if (op?.span && op.outputs[0]) {
      last.set(op.span.end_line, op.outputs[0])
      refused.delete(op.span.end_line)
    }
  }
  const sent = copiesAt(index.trace)
  const lines = code.split('\n')
  const notes = new Map<number, LineNote>()
  for (const [line, text] of sent) if (refused.has(line)) notes.set(line, { text, tone: 'plain' })
  for (const [line, id] of last) {
    const tensor = index.tensor(id)
    if (!tensor || refused.has(line)) continue
    const room = 44 - [...(lines[line - 1] ?? '')].length
    const full = briefLine(tensor)
    const short = full.split(' · ')[0] ?? full
    const text = full.length <= room ? full : short.length <= room ? short : ''
    const moved = sent.get(line)
    const both = [text, moved].filter(Boolean).join(' · ')
    if (both) notes.set(line, { text: both.length <= room || !moved ? both : moved, tone: 'plain' })
  }
  return notes
}
