// A run in phases: computing forward, a backward pass, a step of an optimizer.

import type { Trace } from '../../api/types'

export interface Phase {
  kind: 'forward' | 'backward' | 'update'
  /** First and last step of it. */
  from: number
  to: number
  /** For a backward phase: its outermost pass. */
  pass: string | null
}

/** Phases in order, without gaps. What happens inside a pass belongs to it; prints and resets belong to the phase they
 *  fall into. */
export function phasesOf(trace: Trace): Phase[] {
  const steps = new Set(trace.updates.filter((update) => update.kind === 'step').map((update) => update.id))
  const phases: Phase[] = []
  let open: string | null = null
  trace.timeline.forEach((event, at) => {
    const step = at + 1
    if (open === null && event.kind === 'pass' && event.pass != null) open = event.pass
    const kind = open !== null ? 'backward' : event.update != null && steps.has(event.update) ? 'update' : 'forward'
    const last = phases.at(-1)
    if (last && last.kind === kind && last.pass === open) last.to = step
    else phases.push({ kind, from: step, to: step, pass: open })
    if (open !== null && event.kind === 'pass_end' && event.pass === open) open = null
  })
  return phases
}
