import { describe, expect, it } from 'vitest'
import type { Moved, Walk } from '../../api/types'
import { fateOf, passedOver, rowsOf } from './module-walk'

function moved(name: string, part: Partial<Moved> = {}): Moved {
  return { kind: 'parameter', name, shape: [2], dtype: 'float32', dtype_after: 'float64', same_memory: false, ...part }
}

const count = moved('count', { kind: 'buffer', dtype: 'int64', dtype_after: 'int64', same_memory: true })
const walk: Walk = {
  visits: [
    { path: '', type: 'Sequential', left: 3, moved: [moved('own')] },
    { path: '0', type: 'Block', parent: 0, left: 1, moved: [moved('w'), count] },
    { path: '0.lin', type: 'Linear', parent: 1, left: 0, moved: [moved('weight'), moved('bias')] },
    { path: '1', type: 'ReLU', parent: 0, left: 2 },
  ],
}

describe('rowsOf', () => {
  it('goes into children first, then takes the module’s own tensors', () => {
    const told = rowsOf(walk).map((row) => `${row.depth} ${walk.visits[row.visit]!.path} ${row.moved?.name ?? ''}`)
    expect(told.map((text) => text.trim())).toEqual([
      '0', '1 0', '2 0.lin', '2 0.lin weight', '2 0.lin bias', '1 0 w', '1 0 count', '1 1', '0  own',
    ])
  })

  it('has no row of a walk that was left out', () => {
    expect(rowsOf({ visits: [] })).toEqual([])
  })
})

describe('a tensor of a walk', () => {
  it('says what became of it', () => {
    expect(fateOf(moved('w'))).toBe('refilled')
    expect(fateOf(moved('w', { same_object: false }))).toBe('replaced')
    expect(fateOf(count)).toBe('untouched')
  })

  it('was passed over when it holds whole numbers', () => {
    expect(passedOver(walk, count)).toBe(true)
    expect(passedOver({ visits: [{ path: '', type: 'M', moved: [count] }] }, count)).toBe(false)
  })
})
