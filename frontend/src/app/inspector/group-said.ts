// What a group of boxes is, in a sentence.

import type { Group } from '../../api/types'
import type { Words } from '../../core/words/sentences'

const HEAD = /^(async )?(for|while)\b/
const TURNS = /^\d+–\d+$/

/** `name` is the module's path or the group's title, `pass` the name of the pass that made a layer. */
export function saidOf(group: Group, name: string, pass: string, t: Words): string {
  const { kind, title, type, repeat = 1, size = 0, span } = group
  if (kind === 'module') return t('say.group.module', { name, type, n: size })
  if (kind === 'loop') return t(loopKey(group), { title, type: type || title, n: repeat, size })
  return pass ? t('say.group.layer', { pass, n: size }) : t('say.group.line', { line: span?.line ?? 0, n: size })
}

/** What repeats: the turns of a loop, calls of a function or blocks of a class, or one of these alone. */
function loopKey({ title, type, repeat = 1 }: Group): string {
  if (HEAD.test(title)) return 'say.group.loop'
  if (HEAD.test(type)) return 'say.group.turn'
  if (TURNS.test(title)) return 'say.group.turns'
  if (repeat > 1) return 'say.group.alike'
  return !type && /^\d+$/.test(title) ? 'say.group.nth' : 'say.group.call'
}
