// Ranks of a level as bands: vertical stretches that hold boxes, and the room between them.

import type { Level } from './level'
import { push } from '../trace/trace-index'

export interface Band {
  top: number
  bottom: number
}

/** Vertical stretches of a level that hold boxes: wires stay vertical beside them. */
export function bandsOf(level: Level): Band[] {
  return merged(
    level.nodes.flatMap((node, at) => {
      const top = level.shape.nodes[at]![1]
      return node.role === 'item' ? [{ top, bottom: top + node.size.h }] : []
    }),
  )
}

export function merged(spans: Band[]): Band[] {
  const bands: Band[] = []
  for (const span of spans.sort((a, b) => a.top - b.top)) {
    const last = bands[bands.length - 1]
    if (last && span.top < last.bottom - 0.5) last.bottom = Math.max(last.bottom, span.bottom)
    else bands.push({ ...span })
  }
  return bands
}

/** Whether most neighbours stand right to left; the mirror image is as good, and reads in the program's order. */
export function isBackToFront(level: Level, centres: readonly { x: number; y: number }[]): boolean {
  const ranks = new Map<number, number[]>()
  level.nodes.forEach((node, at) => {
    if (node.role !== 'item') return
    const rank = Math.round(centres[at]!.y)
    push(ranks, rank, centres[at]!.x)
  })
  let balance = 0
  for (const xs of ranks.values()) for (let at = 1; at < xs.length; at++) balance += Math.sign(xs[at]! - xs[at - 1]!)
  return balance < 0
}

/** Sets the distance between ranks to what the wires between them need. */
export class Spacing {
  private readonly tops: number[] = []
  readonly height: number

  constructor(
    private readonly bands: readonly Band[],
    gaps: readonly number[],
  ) {
    let y = 0
    bands.forEach((band, at) => {
      y += gaps[at]!
      this.tops.push(y)
      y += band.bottom - band.top
    })
    this.height = y + gaps[bands.length]!
  }

  /** The new place of an old y; one between two ranks lands between them. */
  at(y: number): number {
    const at = this.bands.findIndex((band) => y <= band.bottom + 0.5)
    if (at < 0) return this.height
    const band = this.bands[at]!
    if (y >= band.top - 0.5) return this.tops[at]! + y - band.top
    const above = at === 0 ? 0 : this.tops[at - 1]! + this.bands[at - 1]!.bottom - this.bands[at - 1]!.top
    return (above + this.tops[at]!) / 2
  }
}
