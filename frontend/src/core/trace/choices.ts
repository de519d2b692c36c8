// The root and the pass that a reader chooses to see drawn.

import type { Pass, RootChoice } from '../../api/types'
import type { ViewState } from '../state'
import type { Words } from '../words/sentences'
import { passName } from './naming'

export type Chosen = Pick<ViewState, 'root' | 'pass'>

/** What is chosen anew; a pass that does not start at the chosen root is left, and so is the root of another pass. */
export function agreeing(roots: readonly RootChoice[], before: Chosen, part: Partial<Chosen>): Partial<Chosen> {
  const { root, pass } = { ...before, ...part }
  const starts = roots.find(({ id }) => id === root)?.passes
  if (!root || !pass || starts?.includes(pass)) return part
  return part.root ? { ...part, pass: null } : { ...part, root: null }
}

/** The name of a root, with its passes where another one has that name too. */
export function rootName(
  { name, passes: ids = [] }: RootChoice, roots: readonly RootChoice[], passes: readonly Pass[], t: Words,
): string {
  if (roots.filter((root) => root.name === name).length < 2) return name
  return [name, ...passes.filter(({ id }) => ids.includes(id)).map((pass) => passName(pass, t))].join(' · ')
}
