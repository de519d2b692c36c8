import { describe, expect, it } from 'vitest'
import type { Op, PromotedOperand } from '../../api/types'
import { promotionText, reasonOf } from './promotion'

function op(operands: PromotedOperand[], result: string): Op {
  return {
    id: 'o1', name: 'add', function: 'torch.add', arguments: [], inputs: [], outputs: [], nodes: [],
    promotion: { operands, result },
  }
}

const tensor = (dtype: string): PromotedOperand => ({ dtype })
const scalar = (dtype: string): PromotedOperand => ({ dtype, kind: 'zero_dim' })
const number = (text: string, dtype: string): PromotedOperand => ({ dtype, kind: 'number', text })

describe('promoted dtypes', () => {
  it('are said in a few letters, with the rule that decided', () => {
    const cases: [Op, string, string][] = [
      [op([tensor('float32'), tensor('int64')], 'float32'), 'float32 + int64 → float32', 'category'],
      [op([tensor('int64'), number('2.5', 'float32')], 'float32'), 'int64 + 2.5 → float32', 'category'],
      [op([tensor('float32'), tensor('float64')], 'float64'), 'float32 + float64 → float64', 'wider'],
      [op([tensor('float32'), scalar('float64')], 'float32'), 'float32 + float64() → float32', 'rank'],
      [op([tensor('int64'), scalar('float64')], 'float64'), 'int64 + float64() → float64', 'category'],
      [op([tensor('int64'), number('2', 'int64')], 'float32'), 'int64 + 2 → float32', 'division'],
      [op([tensor('uint8'), tensor('int8')], 'int16'), 'uint8 + int8 → int16', 'wider'],
      [
        op([tensor('bool'), tensor('uint8'), tensor('bool'), tensor('uint8')], 'uint8'), 'bool + uint8 → uint8',
        'category',
      ],
    ]
    for (const [one, text, reason] of cases) expect([promotionText(one), reasonOf(one)]).toEqual([text, reason])
  })

  it('are not said of other ops', () => {
    const { promotion: _, ...other } = op([], '')
    expect(promotionText(other)).toBe('')
  })
})
