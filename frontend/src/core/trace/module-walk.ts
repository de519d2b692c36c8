// A walk of `Module._apply` as moments in PyTorch's own order: into a module, its children first, then its own tensors,
// out again.

import type { Moved, Walk, WalkVisit } from '../../api/types'

export type Moment =
  { kind: 'enter'; visit: number } | { kind: 'leave'; visit: number } | { kind: 'move'; visit: number; moved: number }

export function momentsOf(walk: Walk): Moment[] {
  const children = new Map<number, number[]>()
  walk.visits.forEach((visit, at) => {
    if (visit.parent == null) return
    const list = children.get(visit.parent)
    if (list) list.push(at)
    else children.set(visit.parent, [at])
  })
  const moments: Moment[] = []
  const todo: (Moment | number)[] = walk.visits.length > 0 ? [0] : []
  while (todo.length > 0) {
    const next = todo.pop()!
    if (typeof next !== 'number') {
      moments.push(next)
      continue
    }
    const visit = walk.visits[next]!
    const own = (visit.moved ?? []).map((_, moved): Moment => ({ kind: 'move', visit: next, moved }))
    moments.push({ kind: 'enter', visit: next })
    todo.push({ kind: 'leave', visit: next }, ...own.reverse(), ...[...(children.get(next) ?? [])].reverse())
  }
  return walk.raised ? moments.filter((one) => one.kind !== 'leave' || !unfinished(walk, one.visit)) : moments
}

/** Whether a walk that raised was still in this module: in the one entered last, or on the way to it. */
function unfinished(walk: Walk, visit: number): boolean {
  for (let up: number | null | undefined = walk.visits.length - 1; up != null && up >= 0; up = walk.visits[up]?.parent)
    if (up === visit) return true
  return false
}

/** How deep a visit lies below the module the walk began at. */
export function depthOf(walk: Walk, at: number): number {
  let depth = 0
  for (let up = walk.visits[at]?.parent; up != null; up = walk.visits[up]?.parent) depth += 1
  return depth
}

/** What became of a tensor: nothing; new contents in the same object; another object; the same contents in another
 *  object. */
export function fateOf(moved: Moved): 'untouched' | 'refilled' | 'replaced' {
  if (moved.same_object ?? true) return (moved.same_memory ?? true) ? 'untouched' : 'refilled'
  return 'replaced'
}

/** Whether a whole-number tensor was passed over while others changed their type. */
export function passedOver(walk: Walk, moved: Moved): boolean {
  return (
    fateOf(moved) === 'untouched' && !isFloating(moved.dtype) && all(walk).some((one) => one.dtype !== one.dtype_after)
  )
}

function all(walk: Walk): Moved[] {
  return walk.visits.flatMap((visit: WalkVisit) => visit.moved ?? [])
}

function isFloating(dtype: string): boolean {
  return /^(float|bfloat|complex)/.test(dtype)
}
