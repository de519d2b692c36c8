// Graphs of runs by what was chosen to draw; each is fetched once.

import * as api from '../api/client'
import type { Graph, Trace } from '../api/types'
import type { Lang } from '../core/state'

export class Graphs {
  private readonly known = new Map<string, Graph>()

  async of(run: string, choice: api.GraphChoice, lang: Lang, signal?: AbortSignal): Promise<Graph> {
    const key = `${run} ${choice.level} ${choice.root ?? ''} ${choice.pass ?? ''}`
    let found = this.known.get(key)
    if (!found) {
      found = await api.graph(run, choice, lang, signal)
      this.known.set(key, found)
    }
    return found
  }
}

/** The backward pass a step belongs to: the one it is in, or the next one, whose forward it then is; after the last, the last. */
export function passOfStep(trace: Trace, step: number): string | null {
  const main = new Set(trace.passes.filter((pass) => pass.parent == null && pass.roots.some((root) => root.node !== null)).map((pass) => pass.id))
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
