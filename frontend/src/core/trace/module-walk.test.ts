import { describe, expect, it } from 'vitest'
import type { Moved, Walk } from '../../api/types'
import { depthOf, fateOf, momentsOf, passedOver } from './module-walk'

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

describe('momentsOf', () => {
  it('goes into children first, then takes the module’s own tensors', () => {
    const told = momentsOf(walk).map(
      (one) =>
        `${one.kind} ${walk.visits[one.visit]!.path}${one.kind === 'move' ? `.${walk.visits[one.visit]!.moved![one.moved]!.name}` : ''}`,
    )
    expect(told).toEqual([
      'enter ', 'enter 0', 'enter 0.lin', 'move 0.lin.weight', 'move 0.lin.bias', 'leave 0.lin', 'move 0.w',
      'move 0.count', 'leave 0', 'enter 1', 'leave 1', 'move .own', 'leave ',
    ])
  })

  it('leaves the modules in the order the run says', () => {
    const left = momentsOf(walk).filter((one) => one.kind === 'leave').map((one) => walk.visits[one.visit]!.left ?? 0)
    expect(left).toEqual([0, 1, 2, 3])
  })

  it('ends inside where it raised', () => {
    const raised: Walk = { raised: true, visits: walk.visits.slice(0, 3).map((visit) => ({ ...visit, moved: [] })) }
    expect(momentsOf(raised).map((one) => `${one.kind} ${one.visit}`)).toEqual(['enter 0', 'enter 1', 'enter 2'])
  })

  it('has no moment of a walk that was left out', () => {
    expect(momentsOf({ visits: [] })).toEqual([])
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
    expect(depthOf(walk, 2)).toBe(2)
  })
})
