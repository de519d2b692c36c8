// What a run is called beside others.

import type { Lesson } from '../../api/client'
import type { Trace } from '../../api/types'
import type { Lang } from '../../core/state'
import type { Words } from '../../core/words/sentences'
import { newLine, tellingLine, type Recent } from './browser-storage'
import type { Run } from './run.svelte'

/** The lesson it is of, when it is unchanged; the line that tells it from the run before, here or only there. */
export function runTitle(
  run: Pick<Run, 'recent' | 'trace'>, lessons: readonly Lesson[], lang: Lang, id: string, trace: Trace | null, t: Words,
): string {
  const lesson = lessons.find((candidate) => candidate.run === id)
  if (lesson) return lesson[lang].title
  const known = run.recent.find((recent) => recent.id === id)
  if (known) return recentTitle(known, lang, t)
  if (!trace) return id.slice(0, 8)
  const [there, here] = [trace.program, run.trace?.program ?? { code: '' }]
  const line = newLine(there, here)
  const gone = newLine(here, there)
  return line === undefined && gone ? t('compare.without', { line: gone }) : tellingLine(there, here)
}

/** `22:41:07 · y = x * 2` */
export function recentTitle({ at, line }: Recent, lang: Lang, t: Words): string {
  const told = typeof line === 'string' ? line : t(line.key, { name: line.name }).replaceAll('`', '')
  return `${new Date(at).toLocaleTimeString(lang, { hour12: false })} · ${told}`
}
