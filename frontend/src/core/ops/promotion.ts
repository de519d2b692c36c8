// Operands of different dtypes in a few letters: `float32 + int64 → float32`.

import type { Op, PromotedOperand } from '../../api/types'

/** `float32`, `2.5` for a plain number, `float64()` for a tensor without axes. */
function operandText(operand: PromotedOperand): string {
  if (operand.kind === 'number') return operand.text ?? operand.dtype
  return operand.kind === 'zero_dim' ? `${operand.dtype}()` : operand.dtype
}

export function promotionText(op: Op): string {
  const { promotion } = op
  if (!promotion) return ''
  const texts = promotion.operands.map(operandText)
  const named = texts.length > 3 ? [...new Set(texts)] : texts
  return `${named.join(' + ')} → ${promotion.result}`
}

/** 0 bool, 1 int, 2 float, 3 complex. */
function categoryOf(dtype: string): number {
  if (dtype === 'bool') return 0
  return dtype.includes('int') ? 1 : dtype.startsWith('complex') ? 3 : 2
}

/** Which rule decided: the highest category, a number or scalar that does not count within it, the wider dtype, `/` of
 *  whole numbers. */
export function reasonOf(op: Op): 'category' | 'rank' | 'wider' | 'division' {
  const { operands, result } = op.promotion!
  if (categoryOf(result) === 2 && operands.every(({ dtype }) => categoryOf(dtype) < 2)) return 'division'
  const categories = operands.map((operand) => categoryOf(operand.dtype))
  if (new Set(categories).size > 1) return 'category'
  const [ranked, others] = [
    operands.filter((operand) => (operand.kind ?? 'tensor') === 'tensor'),
    operands.filter((operand) => (operand.kind ?? 'tensor') !== 'tensor'),
  ]
  return ranked.length > 0 && others.some((operand) => operand.dtype !== result) ? 'rank' : 'wider'
}
