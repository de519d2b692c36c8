// What tells of steps and goes on by them: it comes after the picture.

import type { TraceIndex } from '../core/trace/trace-index'
import { back, on } from '../core/trace/strides'

export { tell } from '../core/trace/story'

/** One thing on, or back; from either end one step further. */
export function walk(index: TraceIndex, step: number, by: number): number {
  const to = by > 0 ? on(index, step) : back(index, step)
  return to === step ? step + by : to
}
