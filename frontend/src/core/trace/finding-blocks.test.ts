import { describe, expect, test } from 'vitest'
import type { Trace } from '../../api/types'
import { causesAt, findingBlocks } from './finding-blocks'
import { tellingFindings } from './lines'

const span = (line: number) => ({ line, end_line: line, column: 0, end_column: 1 })
const findings = [
  { code: 'cut_by_detach', severity: 'error', span: span(7) },
  { code: 'step_moves_nothing', severity: 'error', span: span(9), follows: 0 },
  { code: 'diverged', severity: 'warning', span: span(11), follows: null },
] as unknown as Trace['findings']
const words = Object.assign((key: string) => key, { has: () => false })

describe('what follows from a diagnosis', () => {
  test('is no diagnosis of its own to turn to', () => {
    expect(causesAt(findings)).toEqual([0, 2])
  })

  test('marks no line', () => {
    const trace = { findings } as Trace
    expect(findingBlocks(trace, words as never, () => false).map((block) => block.line)).toEqual([7, 11])
    expect(tellingFindings(trace).map(({ line }) => line)).toEqual([7, 11])
  })
})
