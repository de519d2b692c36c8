// What a group of boxes is, in a sentence.

import type { Graph, Group } from '../../api/types'
import type { Words } from '../../core/words/sentences'

const HEAD = /^(async )?(for|while)\b/
const TURNS = /\d–-?\d+$/

/** `name` is the module's path or the group's title, `pass` the name of the pass that made a layer, `nodes` how many
 *  there are, in words. */
export function saidOf(group: Group, name: string, pass: string, nodes: string, t: Words): string {
  const { kind, title, type, repeat = 1, span, module } = group
  if (module) return t('say.group.module', { name, type, nodes })
  if (kind === 'recursion') return t('say.group.recursion', { title, nodes })
  if (kind === 'loop' || kind === 'steps') return t(loopKey(group), { title, type: type || title, n: repeat, nodes })
  return pass ? t('say.group.layer', { pass, nodes }) : t('say.group.line', { line: span?.line ?? 0, nodes })
}

/** What repeats: the turns of a loop, steps of one call, calls of a function or blocks of a class, or one of these
 *  alone. */
function loopKey({ kind, title, type, repeat = 1 }: Group): string {
  if (kind === 'steps') return repeat > 1 && !TURNS.test(title) ? 'say.group.steps' : 'say.group.step'
  if (HEAD.test(title)) return 'say.group.loop'
  if (HEAD.test(type)) return 'say.group.turn'
  if (TURNS.test(title)) return 'say.group.turns'
  if (repeat > 1) return 'say.group.alike'
  return !type && /^\d+$/.test(title) ? 'say.group.nth' : 'say.group.call'
}

/** How many nodes a group has; of one that autograd recorded nothing of how many operations. */
export function countOf({ id, size }: Group, { groups, boxes }: Pick<Graph, 'groups' | 'boxes'>, t: Words): string {
  if (size) return t('inspect.nodes_in', { n: size })
  const inside = new Set<string | null | undefined>([id])
  for (const { id, parent } of groups) if (inside.has(parent)) inside.add(id)
  return t('inspect.ops_in', { n: boxes.filter(({ group }) => inside.has(group)).length })
}
