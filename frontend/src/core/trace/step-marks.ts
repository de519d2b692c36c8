// What the editor shows of a step besides the state of its lines: marked code, and what stands at the ends of lines.

import type { Box, Op, Span, Trace } from '../../api/types'
import { formatBytes } from '../words/format'
import type { Words } from '../words/sentences'
import { push, type TraceIndex } from './trace-index'
import { concernedAt, failedAt, linesAt, tellingFindings } from './lines'
import type { LineBlock, Marks, SpanMark } from './line-marks'
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
  for (const { span, to, back, size_bytes } of trace.transfers ?? []) {
    const way = back ? `${found.get(span?.end_line ?? 0)} ↑` : `→ ${to === 'cpu' ? 'CPU' : to === 'cuda' ? 'GPU' : to}`
    if (span) found.set(span.end_line, `${way} ${formatBytes(size_bytes)}`)
  }
  return found
}

interface OpAt {
  op: Op
  step: number
}

const known = new WeakMap<TraceIndex, Map<number, OpAt[]>>()

/** The ops that ended in something, by the line where each stands; made once, a long run has many steps. */
function tellingOps(index: TraceIndex): ReadonlyMap<number, readonly OpAt[]> {
  let found = known.get(index)
  if (!found) {
    known.set(index, (found = new Map()))
    for (const [id, step] of index.stepOfOp) {
      const op = index.op(id)
      if (op?.span && (op.raised || gives(index, op))) push(found, op.span.end_line, { op, step })
    }
  }
  return found
}

/** Whether a line ends in what an op made; on the way inside a call, as `nn.Linear(4, 1)`, where a variable has it. */
function gives(index: TraceIndex, { outputs, inside }: Op): boolean {
  return !!outputs[0] && (!inside || outputs.some((id) => index.tensor(id)?.names?.some((name) => !name.includes('.'))))
}

/** What each line's statement gave, up to the step: of the results of its last op the first that has a name; nothing
 *  where that raised. */
function notesAt(index: TraceIndex, step: number, code: string): Map<number, string> {
  const sent = copiesAt(index.trace)
  const lines = code.split('\n')
  const notes = new Map<number, string>()
  for (const [line, ops] of tellingOps(index)) {
    const op = ops.findLast((each) => each.step <= step)?.op
    const refused = op?.raised && sent.get(line)
    if (refused) notes.set(line, refused)
    const given = op?.raised ? [] : (op?.outputs ?? []).map((id) => index.tensor(id))
    const tensor = given.find((one) => one?.names?.length) ?? given[0]
    if (!tensor) continue
    const room = 44 - [...(lines[line - 1] ?? '')].length
    const text = briefLine(tensor).find((each) => each.length <= room) ?? ''
    const moved = sent.get(line)
    const both = [text, moved].filter(Boolean).join(' · ')
    if (both) notes.set(line, both.length <= room || !moved ? both : moved)
  }
  return notes
}
