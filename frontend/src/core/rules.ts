// Derivative rules as the server tells them.

import type { Node } from '../api/types'
import type { Lang } from './state'

/** A formula to compute with: a symbol's name, a number, or a function's name and its arguments. */
export type Terms = string | number | readonly Terms[]

export interface RuleSlot {
  name: string
  letter: string
  /** MathML whose letters are `<mi data-slot>`: places for other letters or the numbers of a node. */
  mathml: string
  terms: Terms
}

export interface Rule {
  id: string
  forward_mathml: string
  slots: RuleSlot[]
  words: Record<Lang, string>
  source: string
}

/** Whether PyTorch's table of derivatives may have formulas of a node: its types are numbered, as `MulBackward0`; those
 *  of the engine and of custom Functions are not in it. */
export function isOfTable({ type, custom }: Pick<Node, 'type' | 'custom'>): boolean {
  return !custom && /Backward\d/.test(type)
}
