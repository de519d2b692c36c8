import { describe, expect, test } from 'vitest'
import type { Op, Tensor } from '../../api/types'
import { activationOf } from './activation'

const tensors: Record<string, Partial<Tensor>> = { a: { data: [-1, 0.5, 2] }, b: { data: [0, 0.5, 2] } }
const op = (name: string): Op => ({ name, inputs: ['a'], outputs: ['b'], raised: false }) as unknown as Op
const tensor = (id: string | undefined): Tensor | undefined => tensors[id ?? ''] as Tensor | undefined

describe('activations', () => {
  test.each(['sigmoid', 'tanh', 'relu', 'silu'])('the slope of %s is its derivative', (name) => {
    const { curve } = activationOf(op(name), tensor)!
    for (const x of [-2, -0.3, 0.7, 3]) {
      const h = 1e-5
      expect(curve.slope(x)).toBeCloseTo((curve.value(x + h) - curve.value(x - h)) / (2 * h), 6)
    }
  })

  test('points are what was recorded', () => {
    expect(activationOf(op('relu'), tensor)?.points).toEqual([{ x: -1, y: 0 }, { x: 0.5, y: 0.5 }, { x: 2, y: 2 }])
  })

  test('of other ops nothing is drawn', () => {
    expect(activationOf(op('mul'), tensor)).toBeNull()
  })
})
