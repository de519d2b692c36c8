// Marks of the small things: icons, header texts, numbers, matrices and words in cells, arrowheads.

import { BRACKET, display, MATRIX_ROW, thumbText, type Display } from '../words/display'
import { cutEnd, cutName, textWidth } from '../words/format'
import type { IconName } from './icons'
import type { Mark } from './marks'
import { ASIDE, LABEL_ROW, NAME, TITLE, type Head } from './measure'
import type { Cell } from './moment'

export type Tone = 'value' | 'gradient' | 'ghost' | 'none' | 'cut'

export function sayCell(cell: Cell): string {
  if (cell.kind !== 'tensor') return cell.kind === 'none' ? 'None' : cell.kind === 'raised' ? cell.text : ''
  const shown = display(cell.tensor)
  if (shown.kind === 'matrix') return `[${shown.rows.map((row) => row.join(' ')).join('; ')}]`
  return shown.kind === 'thumb' ? thumbText(shown) : shown.text
}

export function headText(
  marks: Mark[], head: Head, x: number, y: number, room: number, ghost: boolean, role: boolean,
): void {
  const spare = room - textWidth(head.title, TITLE) - 12
  const right = cutEnd(head.right, NAME, Math.max(room * 0.3, Math.min(room * 0.7, spare)))
  const rightWidth = right ? textWidth(right, NAME) + 12 : 0
  const title = cutName(head.title, TITLE, room - rightWidth)
  marks.push({ k: 'text', c: ghost ? 'title-ghost' : 'title', x, y, s: title })
  const left = room - rightWidth - textWidth(title, TITLE) - 8
  const aside = asideThatFits(head.aside, left)
  if (aside) marks.push({ k: 'text', c: 'aside', x: x + textWidth(title, TITLE) + 8, y, s: aside })
  if (right)
    marks.push({ k: 'text', c: role ? 'role' : ghost ? 'name-ghost' : 'name', x: x + room, y, s: right, a: 'end' })
}

/** Whole parts first: `Linear · 4 nodes`, then `Linear`, then its first words. */
function asideThatFits(aside: string, room: number): string {
  let text = aside
  while (text && textWidth(text, ASIDE) > room)
    text = text.replace(text.includes(' · ') ? / · [^·]*$/ : /( |^)[^ ]*$/, '')
  return text
}

export function iconMark(c: string, name: IconName, x: number, y: number, size: number): Mark {
  return { k: 'path', c, d: name, at: [x, y, size / 16] }
}

export function displayMarks(marks: Mark[], shown: Display, cx: number, cy: number, tone: Tone): void {
  if (shown.kind === 'number')
    marks.push({
      k: 'text', c: tone === 'gradient' ? 'scalar-grad' : tone === 'ghost' ? 'scalar-ghost' : 'scalar', x: cx,
      y: cy + 4.5, s: shown.text, a: 'middle',
    })
  else if (shown.kind === 'matrix') matrixMarks(marks, shown, cx - shown.width / 2, cy - shown.height / 2, tone, 11)
  else if (shown.kind === 'word') wordMarks(marks, shown, cx, cy, tone)
}

function wordMarks(marks: Mark[], shown: Display & { kind: 'word' }, cx: number, cy: number, tone: Tone): void {
  const { text, look } = shown
  const w = textWidth(text, 11) + 14
  const rect = { x: cx - w / 2, y: cy - 9.5, w, h: 19, r: 3 }
  if (look === 'plain') {
    marks.push({
      k: 'text', c: tone === 'cut' ? 'text-cut' : text === '·' ? 'wait' : 'note', x: cx, y: cy + 4, s: text,
      a: 'middle',
    })
    return
  }
  if (look === 'hatch') {
    const lines = Array.from({ length: Math.ceil((w + 19) / 7) }, (_, at) =>
      hatchLine(rect.x, rect.y, w, 19, at * 7),
    ).join('')
    marks.push({ k: 'rect', c: 'pill-hatch', ...rect }, { k: 'path', c: 'hatch', d: lines })
    const inner = textWidth(text, 11) + 4
    marks.push({ k: 'rect', c: 'body', x: cx - inner / 2, y: cy - 7, w: inner, h: 14, r: 2 })
  } else if (look === 'solid') marks.push({ k: 'rect', c: 'pill-solid', ...rect })
  else if (look === 'cells') marks.push({ k: 'rect', c: 'cells', ...rect })
  else marks.push({ k: 'rect', c: tone === 'cut' ? 'pill-cut' : 'pill-none', ...rect })
  const c = look === 'hatch' ? 'text-hatch' : look === 'solid' ? 'text-solid' : tone === 'cut' ? 'text-cut' : 'note'
  marks.push({ k: 'text', c, x: cx, y: cy + 4, s: text, a: 'middle' })
}

/** One 45° line of a hatch, clipped to its box. */
function hatchLine(x: number, y: number, w: number, h: number, at: number): string {
  const [x0, y0] = at <= h ? [0, at] : [at - h, h]
  const [x1, y1] = at <= w ? [at, 0] : [w, at - w]
  return x0 > w || y1 > h ? '' : `M${x + x0} ${y + y0}L${x + x1} ${y + y1}`
}

export function matrixMarks(
  marks: Mark[], shown: Display & { kind: 'matrix' }, x: number, y: number, tone: Tone | 'gradient-label',
  size: number,
): void {
  const scale = size / 11
  const row = size === 11 ? MATRIX_ROW : LABEL_ROW
  const height = shown.rows.length * row + 1
  const width = (shown.width - (shown.stacked ? 5 : 0)) * scale
  const flavour = tone === 'gradient' || tone === 'gradient-label' ? '-grad' : tone === 'ghost' ? '-ghost' : ''
  const text = tone === 'gradient-label'
    ? 'label-g'
    : tone === 'gradient'
      ? 'gradient'
      : tone === 'ghost'
        ? 'value-ghost'
        : 'value'
  const inset = shown.rows.length === 1 ? 2 : 0
  marks.push({
    k: 'path', c: `bracket${flavour}`,
    d: `M${x + 4} ${y - inset}H${x + 0.5}V${y + height + inset}H${x + 4}M${x + width - 4} ${y - inset}H${x + width - 0.5}V${y + height + inset}H${x + width - 4}`,
  })
  if (shown.stacked)
    marks.push({
      k: 'path', c: `bracket${flavour}`, d: `M${x + width + 1} ${y - 3}H${x + width + 3.5}V${y + height - 3}`,
    })
  shown.rows.forEach((cells, at) => {
    let right = x + BRACKET * scale
    cells.forEach((cell, column) => {
      right += shown.columns[column]! * scale
      marks.push({
        k: 'text', c: cell === 'NaN' ? 'text-cut' : text, x: right,
        y: y + at * row + row - 3.5, s: cell, a: 'end',
      })
      right += shown.gap * scale
    })
  })
}

export function arrowDown(x: number, y: number): string {
  return `M${tenths(x)} ${tenths(y)}l-3 -6h6z`
}

export function arrowUp(x: number, y: number, bold: boolean): string {
  return `M${tenths(x)} ${tenths(y)}${bold ? 'l-4.5 8.5h9z' : 'l-3 6h6z'}`
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10
}
