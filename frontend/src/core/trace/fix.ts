// The fix of a finding: what proves that its edits mend, and how sure that makes the finding.

import type { Finding, Shift, Tensor, Trace, Trial } from '../../api/types'
import { formatBytes, formatNumber, formatShape, wireNumber } from '../words/format'
import type { Words } from '../words/sentences'
import { inWords } from './comparisons'
import { briefValue } from './naming'

const LISTED = 4

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
