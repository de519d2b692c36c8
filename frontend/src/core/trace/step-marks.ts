// What the editor shows of a step besides the state of its lines: marked code, and what stands at the ends of lines.

import type { Box, Span, Trace } from '../../api/types'
import { formatBytes } from '../words/format'
import type { Words } from '../words/sentences'
import type { TraceIndex } from './trace-index'
import { concernedAt, failedAt, linesAt, tellingFindings } from './lines'
import type { LineBlock, LineNote, Marks, SpanMark } from './line-marks'
import { briefLine } from './naming'

export interface Choice {
  step: number
  selected?: Box | undefined
  lit: ReadonlySet<number>
  blocks: readonly LineBlock[]
}

export function marksAt(index: TraceIndex, { step, selected, lit, blocks }: Choice, t: Words): Marks {
  const { trace } = index
  const spans: SpanMark[] = []
  const mark = (span: Span | null | undefined, kind: SpanMark['kind']) => span && spans.push({ span, kind })
  mark(concernedAt(index, step), 'gradient')
  mark(selected?.span, 'selected')
  mark(failedAt(index, step), 'failed')
  for (const span of tellingFindings(trace)) mark(span, 'finding')
  return { ...linesAt(index, step, lit, t), notes: notesAt(index, step, trace.program.code), spans, blocks }
}

/** What each line copies between devices, or would copy on a GPU. */
function copiesAt(trace: Trace): Map<number, string> {
  const found = new Map<number, string>()
  for (const { span, to, size_bytes } of trace.transfers ?? [])
    if (span) found.set(span.end_line, `→ ${to === 'cpu' ? 'CPU' : 'GPU'} ${formatBytes(size_bytes)}`)
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
