// How far a folded group has come: the dates of its boxes in one record, so that a step costs the same whatever is
// in it.

import type { Box } from '../../api/types'
import type { Life, Lives } from './lives'

export interface GroupLife {
  inside: readonly Box[]
  ids: ReadonlySet<string>
  /** The first step of its first box. */
  begins: number
  /** The first step at which gradient came to one of its boxes. */
  reached: number
  /** The box it is shown by; none where that is a leaf, which says nothing of those beside it. */
  last: Box | undefined
  /** Those of its boxes that may ever be in trouble. */
  suspects: readonly Life[]
}

/** `node`: that of the box the group is shown by. */
export function groupLife(
  inside: readonly Box[], node: string | null | undefined, lives: Lives, isSuspect: (life: Life) => boolean,
): GroupLife {
  const last = inside.find((box) => box.node != null && box.node === node) ?? inside.at(-1)
  const own = inside.map((box) => lives.byBox.get(box.id)!)
  return {
    inside,
    ids: new Set(inside.map((box) => box.id)),
    begins: own.reduce((least, life) => Math.min(least, life.forwardStep), Infinity),
    reached: own.reduce((least, life) => Math.min(least, lives.reached(life)), Infinity),
    last: last?.kind === 'leaf' ? undefined : last,
    suspects: own.filter(isSuspect),
  }
}
