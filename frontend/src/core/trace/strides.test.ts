import { expect, test } from 'vitest'
import type { Step, Trace } from '../../api/types'
import { load } from '../fixtures/load'
import { lineOf } from './lines'
import { fillingAt } from './filling'
import { back, on, out, over, overBack, stepsOn, wholeOf } from './strides'
import { TraceIndex } from './trace-index'

const trained = new TraceIndex(load('accumulation').trace)
const attending = new TraceIndex(load('attention').trace)
const kindAt = (index: TraceIndex, step: number): string | undefined => index.event(step)?.kind

test('a pass is one stride, there and back', () => {
  const begin = trained.trace.timeline.findIndex(({ kind }) => kind === 'pass')
  const end = over(trained, begin)
  expect(kindAt(trained, end)).toBe('pass_end')
  expect(end - begin).toBeGreaterThan(3)
  expect(overBack(trained, end)).toBe(begin)
  expect(over(trained, begin + 1)).toBe(end)
})

test('a call of a module is one stride, with the calls inside it', () => {
  const begin = attending.trace.timeline.findIndex(({ kind }) => kind === 'call')
  const end = over(attending, begin)
  expect(attending.event(end)).toMatchObject({ kind: 'call_end', call: attending.trace.timeline[begin]!.call })
  expect(overBack(attending, end)).toBe(begin)
  expect(out(attending, begin + 1)).toBe(end)
})

test('where nothing begins, a stride is one step, within the run', () => {
  const total = trained.trace.timeline.length
  expect([over(trained, total), overBack(trained, 0)]).toEqual([total, 0])
  const op = trained.trace.timeline.findIndex(({ kind }) => kind === 'op')
  expect([over(trained, op), overBack(trained, op + 1)]).toEqual([op + 1, op])
})

test('what a layer is filled with is one step by every stride; a step inside it is its own', () => {
  const begin = attending.trace.timeline.findIndex((_, at) => fillingAt(attending, at + 1))
  const { first, last } = fillingAt(attending, begin + 1)!
  expect([first, last]).toEqual([begin + 1, begin + 2])
  expect(on(attending, begin)).toBe(last)
  expect(back(attending, last)).toBe(begin)
  expect(wholeOf(attending, first)).toBe(last)
  expect([over(attending, begin), overBack(attending, last)]).toEqual([last, begin])
  expect(stepsOn(attending, new Set([lineOf(attending, first)!]))[0]).toBe(last)
  const total = attending.trace.timeline.length
  expect([on(attending, total), back(attending, 0), back(attending, total)]).toEqual([total, 0, total - 1])
})

function onLines(code: string, lines: readonly number[]): TraceIndex {
  const trace: Trace = structuredClone(load('accumulation').trace)
  const timeline = lines.map((line): Step => ({
    kind: 'op', span: { line, column: 0, end_line: line, end_column: 1 },
  }))
  return new TraceIndex({ ...trace, program: { ...trace.program, code }, timeline, passes: [] })
}

const LOOPS = `def f(x):
    return x * 2

for epoch in range(2):
    for batch in range(2):
        a = f(batch)

    b = a
c = b
`

test('out of the inner loop, then the outer one; a function called in it is not outside', () => {
  const index = onLines(LOOPS, [2, 6, 2, 6, 8, 2, 6, 2, 6, 8, 9])
  expect(out(index, 2)).toBe(5)
  expect(out(index, 5)).toBe(11)
  expect(out(index, 11)).toBe(11)
})

test('a line is met once for all its events in a row', () => {
  const index = onLines(LOOPS, [6, 6, 8, 6, 9])
  expect(stepsOn(index, new Set([6]))).toEqual([1, 4])
  expect(stepsOn(index, new Set([6, 9]))).toEqual([1, 4, 5])
  expect(stepsOn(index, new Set())).toEqual([])
})
