import { describe, expect, test } from 'vitest'
import type { Finding, Tensor, Trace, Trial } from '../../api/types'
import { words } from '../words/bundled'
import { changedLines } from '../words/differences'
import { certaintyOf, proofRows, trialSentence } from './fix'

describe('changed lines', () => {
  test('show what differs within a pair', () => {
    expect(changedLines('x\ns = h.detach().sum()\ny', 'x\ns = h.sum()\ny')).toEqual([
      { kind: 'old', line: 2, head: 's = h.', changed: 'detach().', tail: 'sum()' },
      { kind: 'new', line: 2, head: 's = h.', changed: '', tail: 'sum()' },
    ])
  })

  test('a line that only comes has no counterpart', () => {
    expect(changedLines('a\nb', 'a\nnew\nb')).toEqual([{ kind: 'new', line: 2, head: '', changed: 'new', tail: '' }])
  })

  test('places apart stay apart, with the numbers of their own program', () => {
    const lines = changedLines('a\nb\nc\nd', 'first\na\nb\nc\nD')
    expect(lines.map(({ kind, line }) => `${kind} ${line}`)).toEqual(['new 1', 'old 4', 'new 5'])
  })

  test('make the one program of the other, whatever changed, down to the last letter', () => {
    const applied = (before: string, after: string): string => {
      const rows = changedLines(before, after)
      const gone = new Set(rows.flatMap(({ kind, line }) => (kind === 'old' ? [line] : [])))
      const lines = before.split('\n').filter((_, at) => !gone.has(at + 1))
      for (const { kind, line, head, changed, tail } of rows)
        if (kind === 'new') lines.splice(line - 1, 0, head + changed + tail)
      return lines.join('\n')
    }
    const long = `loss = ${'x + '.repeat(80)}y.detach()`
    const lines = ['a', 'b', long, long.replace('.detach()', ''), 'if x:', '    y']
    let seed = 7
    const drawn = (): string =>
      Array.from({ length: 6 }, () => lines[(seed = (seed * 16807) % 2147483647) % lines.length]!).join('\n')
    for (let round = 0; round < 200; round++) {
      const [before, after] = [drawn(), drawn()]
      expect(applied(before, after)).toBe(after)
    }
  })

  test('nothing changed, nothing shown; everything changed, everything shown', () => {
    expect(changedLines('a\nb', 'a\nb')).toEqual([])
    const many = (letter: string) => Array.from({ length: 500 }, (_, at) => `${letter}${at}`).join('\n')
    expect(changedLines(many('a'), many('b'))).toHaveLength(1000)
  })
})

describe('a trial', () => {
  const t = words('en')
  const gradient = (...data: number[]): Tensor => ({
    id: 't1', shape: [data.length], dtype: 'float32', role: 'gradient', data,
  })
  const trial: Trial = { finding: 0, verdict: 'mends' }
  const trace = (explanation: string): Trace => ({
    findings: [{ code: 'cut_by_detach', severity: 'error' }],
    failure: {
      kind: 'exception', type: 'RuntimeError', message: '', explanation,
      span: { line: 3, end_line: 3, column: 0, end_column: 0 },
    },
  }) as unknown as Trace

  test('says what reads differently', () => {
    const proof: Trial['proof'] = [
      { what: 'gradient', name: 'w', after: gradient(4.5, 4.5) },
      { what: 'gradient', name: 'v', before: gradient(1, 2), after: gradient(1, 2.00001) },
      { what: 'value', name: 'x', before: gradient(1), after: { ...gradient(1), dtype: 'int64' } },
      { what: 'loss', before: 'nan', after: 0.25 },
      { what: 'loss', name: 's', before: 1, after: 0.25 },
      { what: 'memory', before: 4096, after: 1024 },
      { what: 'printed', name: '2', after: 'loss 0.25' },
      { what: 'printed', name: '3', after: 'tensor([[-0.2884],' },
    ]
    const rows = proofRows({ ...trial, proof }, t)
    expect(rows.map(({ what, before, after }) => `${what}: ${before} → ${after}`)).toEqual([
      'w.grad: None → [4.5, 4.5]',
      'v.grad[1]: 2.00000 → 2.00001',
      'x: 1 float32 → 1 int64',
      'Loss: NaN → 0.25',
      's: 1 → 0.25',
      'saved for backward, at most: 4 KiB → 1 KiB',
      'output, line 2: nothing → loss 0.25',
      'output, line 3: nothing → tensor([[-0.2884], …',
    ])
  })

  test('says how sure the finding is', () => {
    const finding = { code: 'cut_by_no_grad', severity: 'error' } as Finding
    expect(certaintyOf(finding, null)).toBe('certain')
    expect(certaintyOf({ ...finding, certainty: 'possible' }, trial)).toBe('possible')
    expect(certaintyOf(finding, { ...trial, certainty: 'certain' })).toBe('proven')
    expect(certaintyOf(finding, { ...trial, verdict: 'remains', certainty: 'possible' })).toBe('possible')
  })

  test('of an experiment, and of one that fails, says what it tells of the cause', () => {
    const experiment = { findings: [{ code: 'cut_by_no_grad', severity: 'error', is_experiment: true }] } as Trace
    expect(trialSentence(experiment, trial, t)).toContain('it was the cause')
    expect(trialSentence(experiment, { ...trial, verdict: 'remains' }, t)).toContain('may be another')
    expect(trialSentence(experiment, { ...trial, verdict: 'graph_grows' }, t)).toContain('goes back further')
  })

  test('says how far the program gets', () => {
    expect(trialSentence(trace('cut_by_detach'), trial, t)).toContain('runs to its end')
    expect(trialSentence(trace('cut_by_detach'), { ...trial, stops_at: 7 }, t)).toContain('line 7')
    expect(trialSentence(trace('shape'), trial, t)).toContain('is gone')
  })
})
