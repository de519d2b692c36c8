// The fix of a finding: edits put into the program, what proves that they mend, and how sure that makes the finding.

import type { Edit, Finding, Shift, Span, Tensor, Trace, Trial } from '../../api/types'
import { formatBytes, formatNumber, formatShape, wireNumber } from '../words/format'
import type { Words } from '../words/sentences'
import { inWords } from './comparisons'
import { briefValue } from './naming'

const LISTED = 4

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

/** How sure a finding is: by a run without its cause, or else by what the trace says. */
export function certaintyOf(finding: Finding, trial: Trial | null): 'proven' | 'possible' | 'certain' {
  if (trial?.certainty === 'certain') return 'proven'
  return trial?.certainty ?? finding.certainty ?? 'certain'
}

/** How a program got on with a fix, in one sentence. */
export function trialSentence(trace: Trace, { finding, verdict, stops_at: at }: Trial, t: Words): string {
  const { failure } = trace
  if (verdict === 'remains' || verdict === 'stops') return t('fix.remains')
  if (verdict !== 'mends') return t(`fix.${verdict}`)
  if (trace.findings[finding]?.is_experiment) return t('fix.without')
  const line = failure?.span?.line
  if (line === undefined || failure?.explanation !== trace.findings[finding]?.code) return t('fix.mends')
  return at == null ? t('fix.ends', { line }) : t('fix.further', { line, at })
}

/** Something that reads differently with a fix. */
interface ProofRow {
  what: string
  before: string
  after: string
}

export function proofRows(trial: Trial, t: Words): ProofRow[] {
  return (trial.proof ?? []).map((shift) => {
    const [before, after, place = ''] = both(shift, t)
    return { what: named(shift, t) + place, before, after }
  })
}

function named({ what, name = '' }: Shift, t: Words): string {
  if (what === 'gradient') return `${name}.grad`
  if (what === 'value' || (what === 'loss' && name)) return name
  return t({ loss: 'fix.loss', memory: 'fix.memory', printed: 'fix.printed' }[what], { n: name })
}

/** As it was and as it is; the place of the element where that stands for the whole. */
function both({ what, before, after }: Shift, t: Words): [string, string, string?] {
  if (isTensor(before) && isTensor(after)) {
    const kinds = [before, after].map((tensor) => `${formatShape(tensor.shape)} ${tensor.dtype}`)
    if (kinds[0] !== kinds[1]) return kinds as [string, string]
    return inWords(before, after, (tensor) => listed(tensor, t))
  }
  const said = (value: Shift['before']): string => {
    if (value == null) return what === 'printed' ? t('compare.nothing') : 'None'
    if (typeof value === 'object') return listed(value, t)
    if (what === 'memory') return formatBytes(Number(value))
    return what === 'loss' ? formatNumber(wireNumber(value)) : `${value}${isOpen(String(value)) ? ' …' : ''}`
  }
  return [said(before), said(after)]
}

/** Whether a printed line goes on in the next one, as the first of a matrix. */
function isOpen(line: string): boolean {
  return line.split(/[([]/).length > line.split(/[)\]]/).length
}

function isTensor(value: Shift['before']): value is Tensor {
  return typeof value === 'object' && value !== null
}

/** The numbers themselves, where there are few. */
function listed(tensor: Tensor, t: Words): string {
  const { data, shape } = tensor
  if (!data || shape.length !== 1 || data.length > LISTED) return briefValue(tensor, t)
  return `[${data.map((value) => formatNumber(wireNumber(value))).join(', ')}]`
}
