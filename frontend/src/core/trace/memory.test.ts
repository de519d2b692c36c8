import { expect, test } from 'vitest'
import type { MemoryPoint, Trace } from '../../api/types'
import { areas, bytesAt, computedAgain, EMPTY, hidden, peakOf, thinned, totalOf, unseen } from './memory'
import { phasesOf } from './phases'

const point = (step: number, parameters: number, activations = 0, gradients = 0, optimizer = 0): MemoryPoint => ({
  step, parameters, gradients, optimizer, activations,
})

test('what is held at a step is what the latest point before it says', () => {
  const points = [point(0, 8), point(2, 8, 16), point(5, 8, 0, 8)]
  expect(bytesAt(points, 0)).toEqual(EMPTY)
  expect(totalOf(bytesAt(points, 1))).toBe(8)
  expect(totalOf(bytesAt(points, 2))).toBe(8)
  expect(totalOf(bytesAt(points, 3))).toBe(24)
  expect(bytesAt(points, 99).gradients).toBe(8)
  expect(bytesAt([], 3)).toEqual(EMPTY)
})

test('the peak is the first step that holds the most', () => {
  expect(peakOf([point(0, 8), point(2, 8, 16), point(5, 8, 16)])).toEqual({ step: 3, bytes: 24 })
  expect(peakOf([])).toEqual({ step: 0, bytes: 0 })
})

test('what checkpoints compute again is told by stretches between visits', () => {
  const kinds = ['op', 'pass', 'visit', 'op', 'op', 'visit', 'op', 'op', 'visit', 'pass_end']
  const timeline = kinds.map((kind, at) => ({ kind, op: kind === 'op' ? `o${at}` : null }))
  const ops = ['o0', 'o3', 'o4', 'o6', 'o7'].map((id) => ({ id, rerun_of: id === 'o0' || id === 'o6' ? null : 'o0' }))
  expect(computedAgain({ timeline, ops } as unknown as Trace)).toEqual([{ from: 4, to: 5 }, { from: 8, to: 8 }])
  expect(computedAgain({ timeline, ops: [] } as unknown as Trace)).toEqual([])
})

test('tensors in objects that nobody looks into are counted as unseen', () => {
  const reason = 'kept_unseen'
  const nodes = [{ saved: [{ field: 'self', reason }, { field: 'other', reason: 'kept_by_hooks' }] }, {}]
  expect(unseen({ nodes } as unknown as Trace)).toBe(1)
  expect(hidden({ nodes: [{ type: 'CopySlices' }, { type: 'MulBackward0' }] } as unknown as Trace)).toBe(1)
})

test('areas lie on one another', () => {
  const paths = areas([point(0, 4), point(2, 4, 0, 2)], 4, (step) => step * 10, (bytes) => 100 - bytes)
  expect(paths.parameters).toBe('M10 96H30V96H40V100H30V100H10Z')
  expect(paths.gradients).toBe('M10 96H30V94H40V96H30V96H10Z')
  expect(areas([], 4, (step) => step, (bytes) => bytes).parameters).toBe('')
})

test('thousands of points on few pixels keep their peak and their end', () => {
  const points = Array.from({ length: 10_000 }, (_, at) => point(at, 1, at === 4321 ? 999 : 0))
  const drawn = thinned(points, (step) => step / 100)
  expect(drawn.length).toBeLessThan(210)
  expect(drawn).toContain(points[4321])
  expect(drawn.at(-1)).toBe(points.at(-1))
  expect(drawn.map((one) => one.step)).toEqual([...drawn.map((one) => one.step)].sort((a, b) => a - b))
})

test('phases: forward, each pass with what happens in it, each step of an optimizer', () => {
  const timeline = [
    { kind: 'op', op: 'o1' },
    { kind: 'op', op: 'o2' },
    { kind: 'pass', pass: 'p1' },
    { kind: 'op', op: 'o3', pass: 'p1' },
    { kind: 'pass', pass: 'p2' },
    { kind: 'pass_end', pass: 'p2' },
    { kind: 'pass_end', pass: 'p1' },
    { kind: 'update', update: 'u1' },
    { kind: 'reset', update: 'u2' },
  ]
  const updates = [
    { id: 'u1', kind: 'step', changes: [] },
    { id: 'u2', kind: 'zero_grad', changes: [] },
  ]
  expect(phasesOf({ timeline, updates } as unknown as Trace)).toEqual([
    { kind: 'forward', from: 1, to: 2, pass: null },
    { kind: 'backward', from: 3, to: 7, pass: 'p1' },
    { kind: 'update', from: 8, to: 8, pass: null },
    { kind: 'forward', from: 9, to: 9, pass: null },
  ])
})
