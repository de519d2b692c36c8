import { describe, expect, it } from 'vitest'
import type { Trace } from '../../api/types'
import { stopsOf, times } from './jacobian-mode'
import { TraceIndex } from './trace-index'

// out = (x * x * w).sum() at x = [2, 5], w = [3, 1]: ∂out/∂x = 2xw = [12, 10], by two equal ways through x * x.
const tensor = (id: string, data: number[], shape: number[] = [data.length]) => ({
  id, shape, dtype: 'float32', role: 'gradient', data,
})
const node = (id: string, type: string, to: (string | null)[], shape: number[]) => ({
  id, type, edges: to.map((one) => ({ to: one, input_nr: 0, name: 'self' })), outputs: [{ shape, dtype: 'float32' }],
})

function made(change: (trace: Trace) => void = () => undefined): TraceIndex {
  const trace = {
    tensors: [
      tensor('x', [2, 5]), tensor('one', [1], []), tensor('g1', [1, 1]), tensor('g2', [3, 1]), tensor('g3', [6, 5]),
      tensor('g', [12, 10]),
    ],
    ops: [],
    updates: [],
    modules: [],
    timeline: [],
    nodes: [
      node('n1', 'SumBackward0', ['n2'], []), node('n2', 'MulBackward0', ['n3', null], [2]),
      node('n3', 'MulBackward0', ['n4', 'n4'], [2]), { id: 'n4', type: 'AccumulateGrad', edges: [], variable: 'x' },
    ],
    passes: [
      {
        id: 'p1',
        kind: 'backward',
        accumulations: [],
        roots: [{ node: 'n1', input_nr: 0, tensor: null, seed: 'one', implicit: true }],
        visits: [
          { node: 'n1', entered: ['one'], left: ['g1'] }, { node: 'n2', entered: ['g1'], left: ['g2', null] },
          { node: 'n3', entered: ['g2'], left: ['g3', 'g3'] }, { node: 'n4', entered: ['g'], left: [] },
        ],
      },
    ],
    jacobians: [
      { pass: 'p1', node: 'n1', rows: 1, columns: 2, values: [1, 1] },
      { pass: 'p1', node: 'n2', rows: 2, columns: 2, values: [3, 0, 0, 1] },
      { pass: 'p1', node: 'n3', slot: 0, rows: 2, columns: 2, values: [2, 0, 0, 5] },
      { pass: 'p1', node: 'n3', slot: 1, rows: 2, columns: 2, values: [2, 0, 0, 5] },
    ],
  } as unknown as Trace
  change(trace)
  return new TraceIndex(trace)
}

function stops(index: TraceIndex) {
  return stopsOf(index, index.trace.passes[0]!, index.trace.jacobians ?? [])
}

describe('stopsOf', () => {
  it('multiplies along each way, adds the ways, and gets what the engine passed', () => {
    const found = stops(made())
    expect(found.map((one) => one.product)).toEqual([[[1]], [[1, 1]], [[3, 1]], [[12, 10]]])
    expect(found.map((one) => one.vjp)).toEqual([[1], [1, 1], [3, 1], [12, 10]])
    expect(found.map((one) => one.gap)).toEqual([0, 0, 0, 0])
    expect(found.map((one) => one.verdict)).toEqual(['equal', 'equal', 'equal', 'equal'])
    expect(found.map((one) => one.terms)).toEqual([1, 1, 1, 2])
    expect(found[2]!.factors.map((one) => [one.slot, one.rows, one.columns, one.sent])).toEqual([
      [0, 2, 2, [[6, 5]]], [1, 2, 2, [[6, 5]]],
    ])
  })

  it('shows a gap where a hook changed the gradient', () => {
    const found = stops(made((trace) => (trace.passes[0]!.visits[3]!.entered = ['g2'])))
    expect(found.at(-1)!.gap).toBe(9)
    expect(found.map((one) => one.verdict)).toEqual(['equal', 'equal', 'equal', 'changed'])
  })

  it('tells the rounding of a short type from what a hook changed', () => {
    const shorten = (trace: Trace): void => {
      for (const one of trace.tensors) if (one.id === 'g2') Object.assign(one, { data: [3.01, 1], dtype: 'bfloat16' })
      for (const one of trace.tensors) if (one.id === 'g3') Object.assign(one, { data: [6.02, 5] })
      for (const one of trace.tensors) if (one.id === 'g') Object.assign(one, { data: [12.04, 10] })
    }
    const found = stops(made(shorten))
    expect(found.map((one) => [one.verdict, one.dtype])).toEqual([
      ['equal', 'float32'], ['equal', 'float32'], ['rounded', 'bfloat16'], ['rounded', 'bfloat16'],
    ])
    const hooked = stops(made((trace) => {
      shorten(trace)
      trace.passes[0]!.visits[2]!.entered = ['g1']
    }))
    expect(hooked.slice(2).map((one) => one.verdict)).toEqual(['changed', 'changed'])
  })

  it('tells a changed gradient however small the numbers are', () => {
    const found = stops(made((trace) => {
      for (const one of trace.tensors) one.data = one.data?.map((value) => 1e-6 * (value as number))
      trace.passes[0]!.visits[3]!.entered = ['g2']
    }))
    expect(found.map((one) => one.verdict)).toEqual(['equal', 'equal', 'equal', 'changed'])
  })

  it('keeps the shapes where no matrix was worked out', () => {
    const found = stops(made((trace) => (trace.jacobians = trace.jacobians!.slice(0, 1))))
    expect(found.map((one) => one.product)).toEqual([[[1]], [[1, 1]], null, null])
    expect(found.map((one) => [one.rows, one.columns])).toEqual([[1, 1], [1, 2], [1, 2], [1, 2]])
  })

  it('has none for a pass with several roots, or none that is known', () => {
    expect(stops(made((trace) => trace.passes[0]!.roots.push(trace.passes[0]!.roots[0]!)))).toEqual([])
    expect(stops(made((trace) => (trace.passes[0]!.roots[0]!.node = null)))).toEqual([])
  })

  it('keeps no matrix for a node of several outputs', () => {
    const found = stops(made((trace) => trace.nodes[1]!.outputs!.push({ shape: [2], dtype: 'float32' })))
    expect(found.map((one) => one.product === null)).toEqual([false, true, true, true])
  })
})

it('multiplies matrices', () => {
  expect(times([[1, 2]], [[1, 0, 1], [0, 1, 1]])).toEqual([[1, 2, 3]])
})
