// Which backward pass a step of the timeline belongs to.

import type { Trace } from '../../api/types'

/** The passes a graph is drawn of, in the order they ended; null stands for the only one there may be. */
export function passesShown(trace: Trace): (string | null)[] {
  const main = mainPasses(trace)
  if (main.size < 2) return [null]
  const ended = trace.timeline.flatMap((event) => (event.kind === 'pass_end' && event.pass ? [event.pass] : []))
  return ended.filter((pass) => main.has(pass))
}

/** The backward pass a step belongs to: the one it is in, or the next one, whose forward it then is; after the last,
 *  the last. */
export function passOfStep(trace: Trace, step: number): string | null {
  const main = mainPasses(trace)
  if (main.size < 2) return null
  let last: string | null = null
  for (let at = 0; at < trace.timeline.length; at += 1) {
    const event = trace.timeline[at]
    if (event?.kind !== 'pass_end' || !event.pass || !main.has(event.pass)) continue
    last = event.pass
    if (at + 1 >= step) return last
  }
  return last
}

function mainPasses(trace: Trace): ReadonlySet<string> {
  return new Set(
    trace.passes
      .filter((pass) => pass.parent == null && pass.roots.some((root) => root.node !== null))
      .map((pass) => pass.id),
  )
}
