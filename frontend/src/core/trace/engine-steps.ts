// PyTorch's engine at one moment of a pass: what the server's steps add up to.

import type { Arrived, Engine, EngineStep } from '../../api/types'
import { push, type TraceIndex } from './trace-index'

interface EngineMoment {
  /** The step taken last; null before the first. */
  last: EngineStep | null
  /** Number of the step taken next, from 0. */
  next: number
  /** Ready nodes, the next one first; the first 32 of `queued`. */
  queue: readonly string[]
  queued: number
  /** Dependencies that are open, by node. */
  open: ReadonlyMap<string, number>
  /** Gradients in the buffer of each node that has not run. */
  waiting: ReadonlyMap<string, readonly Arrived[]>
}

/** What the engine holds before step `next`, which lies among the steps told or right after them. */
export function engineAt(engine: Engine, next: number): EngineMoment {
  const open = new Map(engine.state.open.map((waiting) => [waiting.node, waiting.count]))
  const waiting = new Map<string, Arrived[]>()
  for (const gradient of engine.state.arrived) push(waiting, gradient.node, gradient)
  const taken = engine.steps.slice(0, Math.max(0, next - engine.from))
  for (const step of taken) {
    waiting.delete(step.node)
    for (const gradient of step.sent ?? []) push(waiting, gradient.node, gradient)
    for (const { node, count } of step.closed ?? []) {
      if (count > 0) open.set(node, count)
      else open.delete(node)
    }
  }
  const coming = engine.steps[taken.length]
  const queue = taken.length === 0 ? engine.state.queue : (coming?.queue ?? [])
  return {
    last: taken.at(-1) ?? null, next: engine.from + taken.length, queue, queued: coming?.queued ?? queue.length, open,
    waiting,
  }
}

/** Step of the timeline at which each engine step has happened; one that is no visit happens with the one before it. */
export function timesOf(index: TraceIndex, engine: Engine): number[] {
  let last = index.passStart(engine.pass)
  return engine.steps.map((step) => {
    if (step.outcome === 'failed') last = index.passEnd(engine.pass)
    else if (step.visit != null) last = index.visitStep(engine.pass, step.node, step.visit) || last
    return last
  })
}

/** The pass a step is in, the innermost one; else the last that began before it; else the first. */
export function passAt(index: TraceIndex, step: number): string | null {
  let begun: string | null = null
  let inside: string | null = null
  for (const pass of index.trace.passes) {
    const start = index.passStart(pass.id)
    if (start === 0 || start > step) continue
    if (begun === null || start >= index.passStart(begun)) begun = pass.id
    if (step < index.passEnd(pass.id) && (inside === null || start >= index.passStart(inside))) inside = pass.id
  }
  return inside ?? begun ?? index.trace.passes[0]?.id ?? null
}

/** How many nodes of a pass were visited by a step. */
export function visitsBy(index: TraceIndex, pass: string, step: number): number {
  const visits = index.passes.get(pass)?.visits ?? []
  let count = 0
  visits.forEach((visit, at) => {
    if (index.visitStep(pass, visit.node, at) <= step) count = at + 1
  })
  return index.passStart(pass) > step ? 0 : count
}
