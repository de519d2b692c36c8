// Keeps everything at its place while only numbers change: a layout holds for whatever has the same structure and fits
// into its sizes.

import type { Layout, LayoutInput } from '../core/layout/geometry'

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** Sizes as large as in either of two inputs, with room for more digits where one grew; null where anything else than
 *  a size differs. */
export function largest(kept: LayoutInput, next: LayoutInput): LayoutInput | null {
  const both = merged(kept as unknown as Json, next as unknown as Json)
  return both === undefined ? null : (both as unknown as LayoutInput)
}

/** For a sign and three digits in each of two columns, so that what grows under the hand grows once. */
const ROOM = 48

function merged(kept: Json, next: Json, of = ''): Json | undefined {
  if (typeof kept === 'number' && typeof next === 'number')
    return next <= kept ? kept : next + (of === 'w' ? ROOM : 8)
  if (kept === null || next === null || typeof kept !== 'object' || typeof next !== 'object')
    return kept === next ? kept : undefined
  const names = Object.keys(kept)
  if (names.length !== Object.keys(next).length) return undefined
  const [old, now] = [kept as Readonly<Record<string, Json>>, next as Readonly<Record<string, Json>>]
  const parts: Record<string, Json> = {}
  let grew = false
  for (const name of names) {
    const part = name in now ? merged(old[name]!, now[name]!, name) : undefined
    if (part === undefined) return undefined
    grew ||= part !== old[name]
    parts[name] = part
  }
  if (!grew) return kept
  return Array.isArray(kept) ? Object.values(parts) : parts
}

/** Whether two layouts place the same things. */
export function isAlike(one: Layout | null, other: Layout): boolean {
  const names = ({ boxes, frames, wires }: Layout) => [...boxes, ...frames, ...wires].map(({ id }) => id).join()
  return one !== null && (one === other || names(one) === names(other))
}
