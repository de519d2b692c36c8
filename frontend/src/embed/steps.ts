// What an embed needs besides its picture, after which it comes: what tells of steps and diagnoses, what goes on by
// steps, and how high its frame would like to be.

import type { Trace } from '../api/types'
import type { Layout } from '../core/layout/geometry'
import { toldAt } from '../core/trace/finding-blocks'
import type { TraceIndex } from '../core/trace/trace-index'
import { back, on } from '../core/trace/strides'
import type { Words } from '../core/words/sentences'
import { edgeOf } from '../graph/camera'
import { LARGE } from '../graph/stage.svelte'

export { encodeState } from '../core/address-text'
export { tell } from '../core/trace/story'

const LEAST_HEIGHT = 320
const MOST_HEIGHT = 900
/** Under a picture that its window cuts. */
const BAR = 33
const MARGIN = 12
/** Of the height at most, where the program stands above its picture. */
const ABOVE = 0.34

/** Room for the whole picture, for what stands above it in its column and for the player; beside it for the program, or
 *  above it as much of that as is shown there. */
export function wantedHeight(main: HTMLElement, { width, height }: Layout): number {
  const [listing, column] = ['.listing', 'section.graph'].map((name) => main.querySelector<HTMLElement>(name))
  const { clientWidth = 0, children = [] } = column ?? {}
  const scale = main.classList.contains('slides') ? LARGE : 1
  const edges = 2 * edgeOf({ width: clientWidth })
  const above = [...children].slice(0, -1).reduce((sum, { scrollHeight }) => sum + scrollHeight, 0)
  const picture = above + height * scale + edges + (width * scale + edges > clientWidth ? BAR : 0)
  const player = main.querySelector<HTMLElement>('.player, .told')?.offsetHeight ?? 0
  const code = listing ? listingHeight(listing) : 0
  const isAbove = listing?.clientWidth === main.clientWidth
  const wanted = isAbove
    ? Math.min(code + picture + player, (picture + player) / (1 - ABOVE))
    : Math.max(code, picture) + player
  return Math.ceil(Math.max(LEAST_HEIGHT, Math.min(MOST_HEIGHT, wanted)))
}

/** Of all lines, as they stand in its width, and what stands under them. */
function listingHeight(listing: HTMLElement): number {
  const lines = [...listing.querySelectorAll('li, .cm-line')].map((line) => line.getBoundingClientRect())
  const [first, last] = [lines[0], lines.at(-1)]
  const rest = listing.clientHeight - (listing.firstElementChild?.clientHeight ?? 0)
  return first && last ? last.bottom - first.top + MARGIN + rest : 0
}

/** One thing on, or back; from either end one step further. */
export function walk(index: TraceIndex, step: number, by: number): number {
  const to = by > 0 ? on(index, step) : back(index, step)
  return to === step ? step + by : to
}

/** How a run plays: in some 12 s, in no smaller time than a frame takes and no longer one than a step wants. */
export function pace(total: number): { stride: number; eachMs: number } {
  return { stride: Math.max(1, Math.round((16 * total) / 12000)), eachMs: Math.max(16, Math.min(700, 12000 / total)) }
}

/** What is wrong, by the line it is told at. */
export function wrongAt(trace: Trace, t: Words): ReadonlyMap<number, string> {
  const found = new Map<number, string>()
  for (const { span, title } of toldAt(trace, t))
    found.set(span.line, `${found.get(span.line) ?? ''} ${title}`.trim())
  return found
}
