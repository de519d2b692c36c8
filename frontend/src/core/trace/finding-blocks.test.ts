import { describe, expect, test } from 'vitest'
import type { Trace, Trial } from '../../api/types'
import { wordsOf } from '../words/sentences'
import { causesAt, diagnoses, findingBlocks, findingWords, toldAt } from './finding-blocks'
import { tellingFindings } from './lines'

const span = (line: number) => ({ line, end_line: line, column: 0, end_column: 1 })
const findings = [
  { code: 'cut_by_detach', severity: 'error', span: span(7) },
  { code: 'step_moves_nothing', severity: 'error', span: span(9), follows: 0 },
  { code: 'diverged', severity: 'warning', span: span(11), follows: null },
] as unknown as Trace['findings']
const words = Object.assign((key: string) => key, { has: () => false })

test('names that a diagnosis lists are joined as the language does, and code stays as it is', () => {
  const parameters = { names: 'w, net.0.bias (+2)', name: 'f(a, b)' }
  const trace = { findings: [{ code: 'x', severity: 'error', parameters }] } as unknown as Trace
  const said = (sentence: string): string =>
    findingWords(trace, 0, 'text', wordsOf({ 'finding.x.text': sentence, 'step.and': '、' }))
  expect(said('{names}。')).toBe('w、net.0.bias (+2)。')
  expect(said('`for {names}`，`{name}`')).toBe('`for w, net.0.bias (+2)`，`f(a, b)`')
})

describe('what follows from a diagnosis', () => {
  test('is no diagnosis of its own to turn to', () => {
    expect(causesAt(findings)).toEqual([0, 2])
    const notes = findings.map((finding) => ({ ...finding, severity: 'note' as const }))
    const counted = [findings, notes, [...findings, ...notes]].map((all) => diagnoses({ findings: all } as Trace))
    expect(counted).toEqual([{ findings: 2, notes: 0 }, { findings: 0, notes: 2 }, { findings: 2, notes: 2 }])
  })

  test('marks no line', () => {
    const trace = { findings } as Trace
    const blocks = findingBlocks(trace, words as never, () => false, () => null)
    expect(blocks.map((block) => block.line)).toEqual([7, 11])
    expect(tellingFindings(trace).map(({ line }) => line)).toEqual([7, 11])
    expect(toldAt(trace, words as never).map(({ span }) => span.line)).toEqual([7, 11])
  })

  test('is said as a possibility where it stays without its cause', () => {
    const titled = (key: string, { title = '' } = {}) => (title ? `${key}(${title})` : key)
    const said = Object.assign(titled, { has: () => false })
    const doubted: Trial = { finding: 0, verdict: 'remains', certainty: 'possible' }
    const trial = (at: number): Trial | null => (at === 0 ? doubted : null)
    const blocks = findingBlocks({ findings } as Trace, said as never, () => false, trial)
    expect(blocks.map((block) => block.title)).toEqual(['findings.maybe(cut_by_detach)', 'diverged'])
  })
})
