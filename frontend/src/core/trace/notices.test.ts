import { expect, test } from 'vitest'
import { load } from '../fixtures/load'
import { words } from '../words/bundled'
import { notices } from './notices'

test('steps before an error are below where some are drawn', () => {
  const { trace, graph } = load('error_in_place')
  const said = (lang: 'en' | 'zh', boxes: typeof graph.boxes) =>
    notices(trace, { ...graph, boxes }, words(lang), lang)[0]!.text
  const { line } = trace.failure!.span!
  expect(said('en', graph.boxes)).toBe(`Line ${line} raised an error. Every step before it is below.`)
  expect([said('en', []), said('zh', [])]).toEqual([`Line ${line} raised an error.`, `第 ${line} 行出错。`])
})

test.each([
  ['en', 'Only 14,000 operations were recorded (the limit on operations).'],
  ['zh', '只记录了 14\u202f000 个运算（到了运算数的上限）。'],
] as const)('a limit that was reached has its name in %s', (lang, said) => {
  const trace = { ...load('detach').trace, truncated: [{ what: 'ops', limit: 'ops', kept: 14_000 }] }
  expect(notices(trace, null, words(lang), lang).map(({ text }) => text)).toEqual([said])
})

test('a program that is stopped after its recording has ended is told so', () => {
  const { trace } = load('detach')
  const failure = { kind: 'limit', type: 'TimeLimit', limit: 'wall_s', message: '' } as unknown as typeof trace.failure
  const said = (truncated: typeof trace.truncated) =>
    notices({ ...trace, status: 'limited', failure, truncated }, null, words('en'), 'en').map(({ text }) => text).join()
  const steps = trace.timeline.length
  expect(said([])).toMatch(new RegExp(`^The program was stopped at \\d+ seconds. ${steps} steps were recorded.$`))
  expect(said([{ what: 'ops', limit: 'ops', kept: 14_000 }])).toMatch(
    /seconds. Its recording had ended before: Only 14,000 operations were recorded/,
  )
})

test.each([
  [3, 'The curve has all of them.', '曲线包含全部。'],
  [2, 'The curve has 2 of them.', '曲线取其中 2 次。'],
])('the curve of a long loop has all passes only where it has: %i of 3', (points, en, zh) => {
  const { trace } = load('detach')
  const sampled = {
    ...trace,
    truncated: [{ what: 'passes', limit: 'sample', kept: 1, omitted: 2 }],
    gaps: [{ passes: 2, ops: 2, first: 2, last: 3 }],
    curve: [1, 2, 3].slice(0, points).map((number) => ({ number })),
  }
  const said = (lang: 'en' | 'zh') => notices(sampled, null, words(lang), lang)[0]!.text
  expect([said('en').endsWith(` ${en}`), said('zh').endsWith(`。${zh}`)]).toEqual([true, true])
})
