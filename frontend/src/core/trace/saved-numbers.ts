// Whole numbers that a node keeps for its backward. PyTorch prints negative ones without their sign, as 2⁶⁴ − 1.

import type { Node } from '../../api/types'

/** A text with the signs of its numbers. */
export function signed(text: string): string {
  return text.replace(/\b\d{19,20}\b/g, (digits) => `${BigInt.asIntN(64, BigInt(digits))}`)
}

/** The numbers of a field; undefined where it has none. */
export function numbersOf(node: Node, field: string): number[] | undefined {
  const text = node.saved?.find((saved) => saved.field === field)?.text
  return text == null ? undefined : signed(text).match(/-?\d+/g)?.map(Number)
}
