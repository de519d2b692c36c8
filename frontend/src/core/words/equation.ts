// The sign between what written numbers come to and the number written beside them.

import { formatNumber, MINUS } from './format'

/** What a reader takes a written number for. */
export function readNumber(text: string): number {
  if (text === 'True' || text === 'False') return Number(text === 'True')
  return Number(text.replaceAll(MINUS, '-').replace('Inf', 'Infinity'))
}

export function asWritten(value: number): number {
  return readNumber(formatNumber(value))
}

/** What floating-point arithmetic with a few digits leaves, as a share of how far `≈` reaches. */
const LEFTOVER = 1e-9

/** `=` where the left comes to the right exactly, as a reader would work it out; `≈` where it comes within `reach` of
 *  it, so that rounding alone keeps them apart; else null. */
export function signBetween(left: number, right: number, reach: number): '=' | '≈' | null {
  const gap = Math.abs(left - right)
  if (Object.is(left, right)) return '='
  return !(gap <= reach && gap < Infinity) ? null : gap <= LEFTOVER * reach ? '=' : '≈'
}
