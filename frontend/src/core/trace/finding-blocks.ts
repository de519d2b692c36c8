// Findings as blocks under their line: what is wrong, in one sentence, and a way to the rest.

import type { Span, Trace, Trial } from '../../api/types'
import { formatNumber } from '../words/format'
import { pieces, type Words } from '../words/sentences'
import type { LineBlock } from './line-marks'

/** A number as Python prints very small and large ones. */
const EXPONENT = /^-?\d(\.\d+)?e[-+]\d+$/
/** Names that are listed, as `w, b` and `fc (Linear), head (Linear) (+3)`. */
const LISTED = /^[\p{L}_][\p{L}\d_.[\]]*( \(\w+\))?(, [\p{L}_][\p{L}\d_.[\]]*( \(\w+\))?)+( \(\+\d+\))?$/u

/** A sentence of a finding by its code; empty when the word lists do not know it. */
export function findingWords(trace: Trace, at: number, part: 'title' | 'text' | 'fix', t: Words): string {
  const finding = trace.findings[at]
  const key = `finding.${finding?.code}.${part}`
  if (!finding || !t.has(key)) return ''
  const code = pieces(t(key)).flatMap(({ kind, text }) => (kind === 'code' ? text : [])).join(' ')
  const written = (name: string, value: string): string => {
    if (EXPONENT.test(value)) return formatNumber(Number(value))
    return LISTED.test(value) && !code.includes(`{${name}}`) ? value.replaceAll(', ', t('step.and')) : value
  }
  const said = Object.fromEntries(
    Object.entries(finding.parameters ?? {}).map(([name, value]) => [name, written(name, value)]),
  )
  const sentence = t(key, said)
  if (part !== 'text' || !('origin_line' in said)) return sentence
  const kind = 'origin_dtype' in said ? 'origin_dtype' : 'origin_given' in said ? 'origin' : 'origin_made'
  const origin = t(`finding.${kind}`, said)
  return `${sentence}${/[。]$/.test(sentence) ? '' : ' '}${origin}`
}

/** Places of the findings that follow from no other one. */
export function causesAt(findings: Trace['findings']): number[] {
  return findings.flatMap((finding, at) => (finding.follows == null ? [at] : []))
}

/** How many diagnoses there are, and how many notes of what is no mistake. */
export function diagnoses({ findings }: Trace): { findings: number; notes: number } {
  const causes = causesAt(findings)
  const notes = causes.filter((at) => findings[at]!.severity === 'note').length
  return { findings: causes.length - notes, notes }
}

/** What is wrong in one sentence, where: of each diagnosis that follows from no other one. */
export function toldAt(trace: Trace, t: Words): { span: Span; title: string }[] {
  return trace.findings.flatMap(({ span, severity, follows }, at) => {
    if (!span || severity === 'note' || follows != null) return []
    return [{ span, title: unmarked(findingWords(trace, at, 'title', t)) }]
  })
}

function unmarked(sentence: string): string {
  return pieces(sentence)
    .map((piece) => piece.text)
    .join('')
}

/** The title of a finding; of one that a run without its cause did not end, as a possibility. */
export function findingTitle(trace: Trace, at: number, t: Words, trial: Trial | null): string {
  const title = findingWords(trace, at, 'title', t) || (trace.findings[at]?.code ?? '')
  return trial?.certainty === 'possible' ? t('findings.maybe', { title }) : title
}

/** `mends`: whether the fix of a finding was tried and is offered; `trial`: what came of it. */
export function findingBlocks(
  trace: Trace,
  t: Words,
  mends: (finding: number) => boolean,
  trial: (finding: number) => Trial | null,
): LineBlock[] {
  return trace.findings.flatMap((finding, index) => {
    if (!finding.span || finding.severity === 'note' || finding.follows != null) return []
    return [
      {
        line: finding.span.end_line, title: unmarked(findingTitle(trace, index, t, trial(index))),
        action: t('findings.show'),
        fix: mends(index) ? t('findings.apply') : '', index,
      },
    ]
  })
}
