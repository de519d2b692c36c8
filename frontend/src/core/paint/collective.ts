// A collective as a box across the lanes: for each rank a column, with what it gave and what it got.

import type { Box } from '../../api/types'
import type { Size } from '../layout/geometry'
import type { Exchanged } from '../trace/collectives'
import type { Mark } from './marks'
import { ARROW, CAPTION, exchangedText, HEAD } from './measure'
import { displayMarks, type Tone } from './small-marks'

/** What stands under the head of the box; `met` are the ranks that have come that far. */
export function columnMarks(box: Box, met: readonly Exchanged[], { w, h }: Size, tone: Tone): Mark[] {
  const marks: Mark[] = []
  const count = Math.max(1, box.ops?.length ?? 0)
  const wide = w / count
  const middle = HEAD + CAPTION + (h - HEAD - CAPTION - 6) / 2
  for (const { op, gave, got } of met) {
    const at = box.ops?.indexOf(op.id) ?? 0
    const centre = (at + 0.5) * wide
    const [from, to] = [exchangedText(gave), exchangedText(got)]
    const left = centre - (from.width + ARROW + to.width) / 2
    const arrow = left + from.width
    if (at > 0) marks.push({ k: 'path', c: 'hair', d: `M${at * wide} ${HEAD}V${h}` })
    marks.push({ k: 'text', c: 'strip-label', x: centre, y: HEAD + 14, s: `rank ${op.rank}`, a: 'middle' })
    displayMarks(marks, from, left + from.width / 2, middle, tone)
    marks.push({ k: 'text', c: 'strip-label', x: arrow + ARROW / 2, y: middle + 4, s: '→', a: 'middle' })
    displayMarks(marks, to, arrow + ARROW + to.width / 2, middle, tone)
  }
  return marks
}
