import { expect, test } from 'vitest'
import type { Op } from '../../api/types'
import { load } from '../fixtures/load'
import { readyFirst } from './buckets'
import { TraceIndex } from './trace-index'

test('the gradients of a bucket stand in the order they were ready', () => {
  const index = new TraceIndex(load('accumulation').trace)
  const pass = index.trace.passes.find(({ accumulations }) => accumulations.length > 0)!
  const ready = pass.accumulations.map(({ tensor }) => index.identity(tensor))
  const other = index.trace.tensors.find(({ id }) => !ready.includes(id))!.id
  const op = { ...index.trace.ops[0]!, pass: pass.id, bucket: [other, ...ready.toReversed()] } as Op
  const bucket = readyFirst(index, op)
  expect(bucket.map(({ parameter }) => parameter.id)).toEqual([...ready, other])
  expect(bucket.map(({ ready }) => ready)).toEqual([...ready.map(() => true), false])
})

test('an op that is none of a bucket has none', () => {
  const index = new TraceIndex(load('accumulation').trace)
  expect(readyFirst(index, index.trace.ops[0]!)).toEqual([])
})
