// Which element of a tensor is written at a point of a box: what the hand takes there.

import type { Box } from '../api/types'
import type { Placed } from '../core/layout/geometry'
import { HEAD, keepsStrip, STRIP, type Measure } from '../core/paint/measure'
import type { Moment } from '../core/paint/moment'
import { BRACKET, CELL_GAP, display, MATRIX_ROW, type Display } from '../core/words/display'

/** Numbers of the graph that can be turned. */
export interface Grips {
  has(tensor: string, element: number): boolean
  /** Follows the pointer with it; a press that stays in place is told. */
  take(tensor: string, element: number, event: PointerEvent, pressed: () => void): void
}

export interface Grip {
  tensor: string
  element: number
}

/** The element of a leaf's value at a point of the graph. */
export function gripAt(place: Placed, box: Box, measure: Measure, moment: Moment, x: number, y: number): Grip | null {
  const { value } = moment.box(box.id)
  if (box.kind !== 'leaf' || value.kind !== 'tensor') return null
  const shown = display(value.tensor)
  const height = place.h - HEAD - (keepsStrip(box, measure) ? STRIP : 0)
  const [left, top] = [place.x + place.w / 4 - shown.width / 2, place.y + HEAD + (height - shown.height) / 2]
  const element = elementIn(shown, value.tensor.shape.at(-1) ?? 1, x - left, y - top)
  return element === null ? null : { tensor: value.tensor.id, element }
}

function elementIn(shown: Display, columns: number, x: number, y: number): number | null {
  if (x < 0 || y < 0 || x > shown.width || y > shown.height) return null
  if (shown.kind === 'number') return 0
  if (shown.kind !== 'matrix') return null
  let right = BRACKET
  for (const [at, width] of shown.columns.entries()) {
    right += width
    if (x <= right + CELL_GAP / 2) {
      const cells = shown.rows[0]!
      if (cells[at] === '…') return null
      const column = at === cells.length - 1 ? columns - 1 : at
      return Math.min(shown.rows.length - 1, Math.floor(y / MATRIX_ROW)) * columns + column
    }
    right += CELL_GAP
  }
  return null
}
