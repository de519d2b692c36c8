// Which number is written at a point of the graph, an element of a leaf or a constant: what the hand takes there.

import type { Box } from '../api/types'
import { written } from '../core/layout/fold'
import type { Layout, Placed } from '../core/layout/geometry'
import {
  cellOf, HEAD, keepsStrip, STRIP, STUB, stubGap, stubWidth, valueTag, type Measure,
} from '../core/paint/measure'
import type { Moment } from '../core/paint/moment'
import type { View } from '../core/paint/view'
import { BRACKET, MATRIX_ROW, type Display } from '../core/words/display'

/** Takes a number: follows the pointer with it, and tells of a press that stays in place, on which box it was. */
export type Grip = (event: PointerEvent, pressed: (box: string) => void) => void

/** What takes the number at a point of the graph. */
export type Grips = (layout: Layout, view: View, moment: Moment, x: number, y: number) => Grip | null

/** An element of a tensor, or constants of a box that are drawn as one. */
export type Held = { box: Box } & ({ tensor: string; element: number } | { constants: readonly number[] })

/** From one stub to the next. */
const STUB_ROW = 24

/** The number at a point of the graph. */
export function heldAt({ boxes }: Layout, view: View, moment: Moment, x: number, y: number): Held | null {
  for (const place of boxes) {
    const box = view.sheet.boxes.get(place.id)
    const isInside = x >= place.x && x <= place.x + place.w && y >= place.y && y <= place.y + place.h
    const held = box && (isInside ? elementAt : constantAt)(place, box, view.measure, x, y, moment)
    if (held) return held
  }
  return null
}

function bodyHeight(place: Placed, box: Box, measure: Measure): number {
  return place.h - HEAD - (keepsStrip(box, measure) ? STRIP : 0)
}

/** The constants beside a box that a stub stands for. */
function constantAt(place: Placed, box: Box, measure: Measure, x: number, y: number): Held | null {
  const stubs = measure.sheet.stubs.get(box.id) ?? []
  const top = place.y + HEAD + (bodyHeight(place, box, measure) - stubs.length * STUB_ROW) / 2 + 2
  const right = place.x - stubGap(measure)
  const row = Math.floor((y - top) / STUB_ROW)
  const stub = stubs[row]
  if (!stub || x > right || x < right - stubWidth(stub, measure) || y > top + row * STUB_ROW + STUB.height) return null
  const one = stub.text.replace(/ ×\d+$/, '')
  const alike = (box.constants ?? []).flatMap((text, at) => (written(text) === one ? [at] : []))
  const nth = stubs.slice(0, row).filter(({ text }) => text === one).length
  const constants = one === stub.text ? alike.slice(nth, nth + 1) : alike
  return stub.box === null && constants.length > 0 ? { box, constants } : null
}

function elementAt(place: Placed, box: Box, measure: Measure, x: number, y: number, moment: Moment): Held | null {
  const { value } = moment.box(box.id)
  if (box.kind !== 'leaf' || value.kind !== 'tensor') return null
  const { shown } = cellOf(value.tensor, valueTag(box, measure), measure, place.w / 2 - 20)
  const height = bodyHeight(place, box, measure)
  const [left, top] = [place.x + place.w / 4 - shown.width / 2, place.y + HEAD + (height - shown.height) / 2]
  const element = elementIn(shown, value.tensor.shape.at(-1) ?? 1, x - left, y - top)
  return element === null ? null : { box, tensor: value.tensor.id, element }
}

function elementIn(shown: Display, columns: number, x: number, y: number): number | null {
  if (x < 0 || y < 0 || x > shown.width || y > shown.height) return null
  if (shown.kind === 'number') return 0
  if (shown.kind !== 'matrix') return null
  let right = BRACKET
  for (const [at, width] of shown.columns.entries()) {
    right += width
    if (x <= right + shown.gap / 2) {
      const cells = shown.rows[0]!
      if (cells[at] === '…') return null
      const column = at === cells.length - 1 ? columns - 1 : at
      return Math.min(shown.rows.length - 1, Math.floor(y / MATRIX_ROW)) * columns + column
    }
    right += shown.gap
  }
  return null
}
