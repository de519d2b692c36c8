// What a run is called beside others.

import type { Trace } from '../../api/types'
import { tellingLine, type Recent } from './browser-storage'
import type { Playground } from './playground.svelte'

/** The lesson it is of, when it is unchanged; the line that tells it from the run before; or its first line. */
export function runTitle(play: Playground, id: string, trace: Trace | null): string {
  const lesson = play.lessons.find((one) => one.run === id)
  if (lesson) return lesson[play.view.lang].title
  const known = play.recent.find((one) => one.id === id)
  if (known) return recentTitle(known, play)
  return trace ? tellingLine(trace.program, play.trace?.program ?? { code: '' }) : id.slice(0, 8)
}

/** `22:41:07 · y = x * 2` */
export function recentTitle(run: Recent, play: Playground): string {
  const time = new Date(run.at).toLocaleTimeString(play.view.lang, { hour12: false })
  return `${time} · ${run.line}`
}
