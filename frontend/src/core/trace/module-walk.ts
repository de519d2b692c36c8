// A walk of `Module._apply` in PyTorch's own order: into a module, its children first, then its own tensors.

import type { Moved, Walk } from '../../api/types'

/** A module that is entered, or one of its tensors that is taken. */
interface WalkRow {
  visit: number
  /** How deep it lies below the module the walk began at. */
  depth: number
  moved: Moved | null
}

export function rowsOf(walk: Walk): WalkRow[] {
  const children = new Map<number, number[]>()
  walk.visits.forEach(({ parent }, visit) => {
    if (parent != null) children.set(parent, [...(children.get(parent) ?? []), visit])
  })
  const rows: WalkRow[] = []
  const todo: WalkRow[] = walk.visits.length > 0 ? [{ visit: 0, depth: 0, moved: null }] : []
  while (todo.length > 0) {
    const row = todo.pop()!
    const { visit, depth } = row
    rows.push(row)
    if (row.moved) continue
    const inside = (children.get(visit) ?? []).map((child) => ({ visit: child, depth: depth + 1, moved: null }))
    const own = (walk.visits[visit]!.moved ?? []).map((moved) => ({ visit, depth, moved }))
    todo.push(...own.reverse(), ...inside.reverse())
  }
  return rows
}

/** What became of a tensor: nothing; new contents in the same object; another object; the same contents in another
 *  object. */
export function fateOf(moved: Moved): 'untouched' | 'refilled' | 'replaced' {
  if (moved.same_object ?? true) return (moved.same_memory ?? true) ? 'untouched' : 'refilled'
  return 'replaced'
}

/** Whether a whole-number tensor was passed over while others changed their type. */
export function passedOver(walk: Walk, moved: Moved): boolean {
  const all = walk.visits.flatMap((visit) => visit.moved ?? [])
  const isFloating = /^(float|bfloat|complex)/.test(moved.dtype)
  return fateOf(moved) === 'untouched' && !isFloating && all.some(({ dtype, dtype_after }) => dtype !== dtype_after)
}
