import { expect, test } from 'vitest'
import { load } from '../fixtures/load'
import { TraceIndex } from './trace-index'
import { hooksDuring, opsOf, stepsOfCall } from './module-calls'

const index = new TraceIndex(load('attention').trace)

test('a call holds its ops, and those of the modules it called', () => {
  for (const call of index.trace.calls ?? []) {
    const ops = opsOf(index, call)
    const steps = stepsOfCall(index, call)!
    expect(steps.from).toBeLessThan(steps.to)
    for (const op of ops) {
      const step = index.stepOfOp.get(op.id)!
      expect(step).toBeGreaterThan(steps.from)
      expect(step).toBeLessThan(steps.to)
    }
    const parent = call.parent ? index.calls.get(call.parent) : undefined
    if (parent) expect(opsOf(index, parent)).toEqual(expect.arrayContaining([...ops]))
  }
  expect((index.trace.calls ?? []).length).toBeGreaterThan(0)
})

test('a call the timeline does not tell of has no steps; one without ops has none', () => {
  const [call] = index.trace.calls!
  expect(stepsOfCall(index, { ...call!, id: 'c0' })).toBeNull()
  expect(opsOf(index, { id: 'c0', module: call!.module })).toEqual([])
})

test('only the module’s own hooks are told with its call', () => {
  const [call] = index.trace.calls!
  const hook = { id: 'h1', kind: 'forward' as const, function: 'f', module: call!.module }
  const other = { ...hook, id: 'h2', module: 'm0' }
  const { timeline } = index.trace
  const end = stepsOfCall(index, call!)!.to
  const hooked = new TraceIndex({
    ...index.trace,
    hooks: [hook, other],
    timeline: [
      ...timeline.slice(0, end - 1),
      { kind: 'hook', hook: 'h1' },
      { kind: 'hook', hook: 'h2' },
      ...timeline.slice(end - 1),
    ],
  })
  expect(hooksDuring(hooked, call!, stepsOfCall(hooked, call!)!).map((one) => one.id)).toEqual(['h1'])
})
