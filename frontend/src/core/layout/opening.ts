// Which groups are open when a graph opens.

import { childrenOf, isOfLeaves, signature, type Sheet } from './fold'
import type { Group } from '../../api/types'
import { push } from '../trace/trace-index'

/** Boxes on screen when a graph opens. */
const OPENING_BOXES = 30
/** What ran more often than this is one box, unless its steps hand a state on or there is nothing else. */
const MOST_REPEATED = 8
/** From this many on, groups that are alike (iterations, layers) stay folded unless they are small. */
const MANY_ALIKE = 3

/** Groups open at first: as deep as 30 boxes allow, breadth first; groups that are alike open together. */
export function openingChoice(sheet: Sheet): Set<string> {
  const open = new Set<string>()
  let count = childrenOf(sheet, '').length
  let level = childrenOf(sheet, '').filter((id) => sheet.groups.has(id))
  while (level.length > 0) {
    const next: string[] = []
    for (const alike of setsAlike(sheet, level)) {
      const inside = alike.flatMap((group) => childrenOf(sheet, group))
      const total = count - alike.length + inside.length
      if (alike.some((group) => isOfLeaves(sheet, group))) continue
      if (count > 1 && alike.some((group) => isOne(sheet.groups.get(group)!))) continue
      const isMany = alike.length >= MANY_ALIKE && sheet.groups.get(alike[0]!)!.kind !== 'rank'
      if (total > (isMany ? OPENING_BOXES / 2 : OPENING_BOXES)) continue
      count = total
      for (const group of alike) open.add(group)
      next.push(...inside.filter((id) => sheet.groups.has(id)))
    }
    level = next
  }
  return open
}

function isOne({ kind, repeat = 1, hands_on }: Group): boolean {
  return kind === 'op' || (repeat > MOST_REPEATED && !hands_on)
}

/** Turns of one loop are alike, one that ran less than the others too. */
function setsAlike(sheet: Sheet, level: readonly string[]): string[][] {
  const sets = new Map<string, string[]>()
  for (const id of level) {
    const around = sheet.groups.get(sheet.parents.get(id) ?? '')
    push(sets, around?.kind === 'loop' ? around.id : signature(sheet.groups.get(id)!), id)
  }
  return [...sets.values()].sort(
    (a, b) => a.length * childrenOf(sheet, a[0]!).length - b.length * childrenOf(sheet, b[0]!).length,
  )
}
