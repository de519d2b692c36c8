// What a reader can make of a graph by opening and folding its groups, for a player that cannot lay out itself.

import { childrenOf, toggled, type Sheet } from './fold'
import { openingChoice } from './opening'

/** Sets of open groups, at most so many: as the graph opens, or as was wanted, then what one press makes of it, then
 *  two. Groups inside a folded one are not told apart. */
export function foldings(sheet: Sheet, most: number, wanted?: readonly string[]): ReadonlySet<string>[] {
  const found: ReadonlySet<string>[] = [wanted ? new Set(wanted) : openingChoice(sheet)]
  const known = new Set(found.map(keyOf))
  for (let at = 0; at < found.length; at += 1) {
    for (const open of presses(sheet, found[at]!)) {
      if (found.length >= most) return found
      if (known.has(keyOf(open))) continue
      known.add(keyOf(open))
      found.push(open)
    }
  }
  return found
}

/** What each press of a group makes of the groups that are open, then what one makes that goes for all groups like
 *  it. */
function presses(sheet: Sheet, open: ReadonlySet<string>): ReadonlySet<string>[] {
  return [false, true].flatMap((alike) =>
    shown(sheet, open).map((group) => {
      const next = toggled(sheet, open, group, alike)
      return new Set(shown(sheet, next).filter((id) => next.has(id)))
    }),
  )
}

/** The groups on screen, open or folded. */
function shown(sheet: Sheet, open: ReadonlySet<string>, parent = ''): string[] {
  return childrenOf(sheet, parent)
    .filter((id) => sheet.groups.has(id))
    .flatMap((id) => [id, ...(open.has(id) ? shown(sheet, open, id) : [])])
}

function keyOf(open: ReadonlySet<string>): string {
  return [...open].sort().join(' ')
}

/** Of the choices there are, the one nearest to what was wanted in which every group that was pressed stands as wanted;
 *  −1 where there is none. */
export function nearest(
  choices: readonly (readonly string[])[], before: ReadonlySet<string>, wanted: ReadonlySet<string>,
): number {
  const pressed = [...differing(before, wanted)]
  let best = -1
  let least = Infinity
  choices.forEach((open, at) => {
    const has = new Set(open)
    if (pressed.some((id) => has.has(id) !== wanted.has(id))) return
    const far = differing(has, wanted).size
    if (far < least) [best, least] = [at, far]
  })
  return best
}

function differing(one: ReadonlySet<string>, other: ReadonlySet<string>): Set<string> {
  return new Set([...one, ...other].filter((id) => one.has(id) !== other.has(id)))
}
