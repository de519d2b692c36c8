import { expect, it } from 'vitest'
import type { Batch, Op, Trace } from '../../api/types'
import { batchAt, batchWith, epochOf, samplesOf } from './batches'

const batch = (epoch: number, number: number, indices: number[], tensors: string[] = []): Batch => ({
  loader: 1, epoch, number, indices, count: indices.length, tensors,
})
const batches = [batch(1, 1, [4, 1], ['t1', 't2']), batch(1, 2, [0, 3]), batch(1, 0, [2]), batch(2, 1, [2, 0])]
const trace = { batches: [...batches, { ...batch(1, 1, [0, 1]), loader: 2 }] } as unknown as Trace

it('finds the batch of a step, and that which a tensor came with', () => {
  expect(batchAt(trace, { kind: 'batch', index: 1 })).toBe(batches[1])
  expect(batchAt(trace, { kind: 'output', index: 1 })).toBeUndefined()
  expect(batchWith(trace, { outputs: ['t2'] } as Op)).toBe(batches[0])
  expect(batchWith(trace, { outputs: ['t9'] } as Op)).toBeUndefined()
})

it('keeps the batches of an epoch together, the dropped samples last', () => {
  expect(epochOf(trace, batches[0]!)).toEqual(batches.slice(0, 3))
})

it('names samples, and the first of many', () => {
  expect(samplesOf(batches[0]!, 8)).toBe('4, 1')
  expect(samplesOf({ ...batch(1, 1, [5, 6, 7, 8]), count: 300 }, 3)).toBe('5, 6, …')
})
