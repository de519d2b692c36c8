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
    const lines = index.trace.program.code.split('\n')
    known.set(index, (found = new Map()))
    for (const [id, step] of index.stepOfOp) {
      const op = index.op(id)
      if (op?.span && (op.raised || gives(lines, op))) push(found, op.span.end_line, { op, step })
    }
  }
  return found
}

/** Whether what a statement gives is what an op made, and not an argument of its call, a part of its value, or what ran
 *  inside the call, as in `nn.Linear(4, 1)`. */
function gives(lines: readonly string[], { span, outputs, inside, in_place }: Op): boolean {
  const [first, last] = [[...(lines[span!.line - 1] ?? '')], [...(lines[span!.end_line - 1] ?? '')]]
  const [before, own] = [first.slice(0, span!.column).join(''), first.slice(span!.column).join('')]
  const whole = (in_place || ADDING.test(own) ? CHANGE : BEGIN).test(before)
  return whole && END.test(last.slice(span!.end_column).join('')) && outputs.length > 0 && !inside
}

/** Before the whole value of a statement: `y = `, `return `; before what changes a tensor or a name, `total += y`, also
 *  nothing. */
const BEGIN = /^\s*(return\s+|([^=()#'";!<>]+(?<![-+*/%@&|^])=\s*)+)\(*$/
const CHANGE = /^\s*(return\s+|([^=()#'";!<>]+=\s*)+)?\(*$/
const ADDING = /^[^=()#'";!<>]+[-+*/%@&|^]=/
const END = /^\)*\s*(#.*)?$/

/** What each line's statement gave, up to the step: of several results of its last op those that have names, and of
 *  several ranks the one that ran last; nothing where that raised. */
function notesAt(index: TraceIndex, step: number, code: string): Map<number, string> {
  const sent = copiesAt(index.trace)
  const lines = code.split('\n')
  const notes = new Map<number, string>()
  for (const [line, ops] of tellingOps(index)) {
    const op = ops.findLast((each) => each.step <= step)?.op
    const refused = op?.raised && sent.get(line)
    if (refused) notes.set(line, refused)
    const given = op?.raised ? [] : (op?.outputs ?? []).map((id) => index.tensor(id))
    const named = given.filter((one) => one?.names?.length)
    const told = (named.length > 0 ? named : given.slice(0, 1)).flatMap((one) => (one ? [briefLine(one)] : []))
    if (told.length === 0) continue
    const room = 44 - [...(lines[line - 1] ?? '')].length
    const most = Math.max(...told.map((each) => each.length))
    const whose = op?.rank == null ? '' : `rank ${op.rank} · `
    const texts = Array.from({ length: most }, (_, at) => told.map((each) => each[at] ?? each.at(-1)).join(', '))
    const text = texts.find((each) => each.length <= room) ?? ''
    const moved = sent.get(line)
    const both = [text && whose + text, moved].filter(Boolean).join(' · ')
    if (both) notes.set(line, both.length <= room || !moved ? both : moved)
  }
  return notes
}
