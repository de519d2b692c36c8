// What happened inside one run of a module's forward.

import type { HookCall, ModuleCall, Op } from '../../api/types'
import type { TraceIndex } from './trace-index'

/** The ops of a call in order, those of modules it called included. */
export function opsOf(index: TraceIndex, call: ModuleCall): readonly Op[] {
  const { ops } = index.trace
  const from = ops.findIndex((op) => op.id === call.first_op)
  const to = ops.findIndex((op) => op.id === call.last_op)
  return from < 0 || to < from ? [] : ops.slice(from, to + 1)
}

export interface Stretch {
  from: number
  to: number
}

/** Steps of its beginning and its end; null when the timeline does not tell of it. */
export function stepsOfCall(index: TraceIndex, call: ModuleCall): Stretch | null {
  const { timeline } = index.trace
  const from = timeline.findIndex((step) => step.kind === 'call' && step.call === call.id) + 1
  if (from === 0) return null
  const to = timeline.findIndex((step) => step.kind === 'call_end' && step.call === call.id) + 1
  return { from, to: to || timeline.length }
}

/** The module's own hooks that fired around a call: pre-hooks stand just before its ops, forward hooks just after. */
export function hooksDuring(index: TraceIndex, call: ModuleCall, { from, to }: Stretch): HookCall[] {
  return index.trace.timeline.slice(Math.max(0, from - 1), to).flatMap((step) => {
    const hook = step.hook ? index.hooks.get(step.hook) : undefined
    return hook && hook.module === call.module ? [hook] : []
  })
}
