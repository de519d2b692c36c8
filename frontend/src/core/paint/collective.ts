// A collective as a box across the lanes: for each rank a column, with what it gave and what it got.

import type { Box, Tensor } from '../../api/types'
import type { Size } from '../layout/geometry'
import { exchangesOf, type Exchanged } from '../trace/collectives'
import { brief, display, WAITING, word, type Display } from '../words/display'
import { textWidth } from '../words/format'
import type { Mark } from './marks'
import { ASIDE, HEAD, type Measure } from './measure'
import { displayMarks, type Tone } from './small-marks'

const CAPTION = 18
const ARROW = 26
const PAD = 12
/** Tensors of one rank that are named one by one. */
const MOST = 4

function shownOf(tensors: readonly Tensor[]): Display {
  if (tensors.length === 0) return WAITING
  const [only] = tensors
  const shown = tensors.length === 1 ? display(only!) : null
  if (shown && shown.kind !== 'thumb') return shown
  const more = tensors.length > MOST ? ', …' : ''
  return word(tensors.slice(0, MOST).map(brief).join(', ') + more, 'plain')
}

export function collectiveSize(box: Box, measure: Measure, head: number): Size {
  const columns = exchangesOf(measure.story.index, box).map(({ gave, got }) => [shownOf(gave), shownOf(got)] as const)
  const widths = columns.map(([gave, got]) => Math.max(textWidth('rank 0', ASIDE), gave.width + ARROW + got.width))
  const tallest = Math.max(16, ...columns.flat().map(({ height }) => height))
  return {
    w: Math.max(head, columns.length * (Math.max(0, ...widths) + 2 * PAD)), h: HEAD + CAPTION + tallest + 12,
  }
}

/** What stands under the head of the box; `met` are the ranks that have come that far. */
export function columnMarks(box: Box, met: readonly Exchanged[], { w, h }: Size, tone: Tone): Mark[] {
  const marks: Mark[] = []
  const count = Math.max(1, box.ops?.length ?? 0)
  const wide = w / count
  const middle = HEAD + CAPTION + (h - HEAD - CAPTION - 6) / 2
  for (const { op, gave, got } of met) {
    const at = box.ops?.indexOf(op.id) ?? 0
    const centre = (at + 0.5) * wide
    const [from, to] = [shownOf(gave), shownOf(got)]
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
