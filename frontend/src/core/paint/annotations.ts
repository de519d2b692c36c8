// What a page has room for and an embed has not: step numbers beside boxes, captions, what operands became.

import type { Box, Tensor } from '../../api/types'
import type { Sheet, Stub } from '../layout/fold'
import { formatBytes, textWidth } from '../words/format'
import {
  CASTS, COLUMN, naturalWidth, SMALLEST, SWITCHES, type Measure, type Room, type Spacious, type StepNumbers,
} from './measure'
import type { BoxPaint, Moment } from './moment'
import { promotionText } from '../ops/promotion'
import type { Mark } from './marks'

const SPACIOUS: Spacious = {
  narrowest: (sheet) => (isChain(sheet) ? COLUMN : 180),
  widest: 380,
  cell: Infinity,
  aside: (box, measure) => promotionOf(box, measure) || castOf(box, measure) || reasonOf(box, measure),
  steps,
  margins,
  caption,
}

export const PAGE: Room = () => SPACIOUS

/** What shows more of a small graph: fewer digits of a vector, else its picture, else no step numbers beside it, else
 *  boxes that are narrow and near. */
export const TIGHTER: readonly Room[] = [
  { cell: 170 }, { cell: 130 }, { cell: 130, margins: null },
  { cell: 110, margins: null, widest: 208, narrowest: () => 116, gap: 16 },
].map((less) => {
  const tight = { ...SPACIOUS, widest: COLUMN, ...less }
  return () => tight
})

/** What a phone has room for beside a column with its step numbers. */
const NARROW_STUB = 50
const NARROW: Spacious = { ...SPACIOUS, widest: COLUMN, cell: 130 }

/** All but chains need the little room a phone has; so do those with long constants. */
export const PHONE: Room = (sheet) =>
  isChain(sheet) && ![...sheet.stubs.values()].flat().some((stub) => naturalWidth(stub) > NARROW_STUB)
    ? NARROW
    : null

/** Whether most boxes stand one under the other. */
function isChain(sheet: Sheet): boolean {
  const consumers = new Map<string, Set<string>>()
  for (const link of sheet.links) consumers.set(link.source, (consumers.get(link.source) ?? new Set()).add(link.target))
  return (
    sheet.boxes.size <= 16 &&
    [...consumers.values()].every((targets) => targets.size <= 1) &&
    sheet.boxes.size - consumers.size <= 1
  )
}

/** What its operands' dtypes were brought to. */
function promotionOf(box: Box, { story }: Measure): string {
  const op = story.index.op(box.op)
  return op?.promotion ? promotionText(op) : ''
}

/** The dtype that a call changed to, whole or not at all; the device of its result when not in main memory, with the
 *  bytes that went there and those of the gradient that came back. */
function castOf(box: Box, { story }: Measure): string {
  const op = story.index.op(box.op)
  const [given, made] = [story.index.tensor(op?.inputs[0]), story.index.tensor(op?.outputs[0])]
  const cast = op && CASTS.has(op.name) && given && made && given.dtype !== made.dtype
  if (op && CASTS.has(op.name) && given && made && (given.device ?? 'cpu') !== (made.device ?? 'cpu')) {
    const back = box.node && story.index.visitsOfNode.has(box.node)
    const bytes = `↓\u00a0${bytesOf(given)}${back ? ` ↑\u00a0${bytesOf(made)}` : ''}`
    return `${cast ? `→\u00a0${made.dtype} · ` : ''}${made.device ?? 'cpu'} · ${bytes}`
  }
  const device = made?.device && made.device !== 'cpu' ? made.device : ''
  return [cast ? `→\u00a0${made.dtype}` : '', device].filter(Boolean).join(' · ')
}

function bytesOf({ dtype, shape }: Tensor): string {
  const bits = Number(/\d+$/.exec(dtype)?.[0] ?? 8)
  return formatBytes((shape.reduce((count, size) => count * size, 1) * bits) / 8)
}

/** Why a ghost was not recorded, where its title does not say so. */
function reasonOf(box: Box, measure: Measure): string {
  if (box.kind !== 'ghost') return ''
  return SWITCHES[box.reason ?? ''] ?? (box.reason === 'integer' ? measure.words('graph.reason.integer') : '')
}

function steps(id: string, { step, event, currentBox }: Moment, { story: { lives } }: Measure): StepNumbers {
  const life = lives.byBox.get(id)!
  const isLeaf = life.box.kind === 'leaf'
  const all = isLeaf ? life.additions : life.visits
  const { step: backward = 0 } = all.findLast((visit) => visit.step <= step) ?? all[0] ?? {}
  const now = currentBox === id ? event : undefined
  const isTold = now !== undefined && now.op == null && now.kind !== 'seed'
  const inStrip =
    (now?.kind === 'sum' || now?.kind === (isLeaf ? 'accumulate' : 'hook')) && lives.boxAround(now) === null
  return { forward: life.forwardStep, backward, reached: backward <= step, now: isTold ? step : 0, inStrip }
}

function margins(
  paint: BoxPaint, { forward, backward, reached, now, inStrip }: StepNumbers,
  { w, h, strip, top }: { w: number; h: number; strip: number; top: number }, { words }: Measure,
): Mark[] {
  const marks: Mark[] = []
  if (forward > 0) {
    const y = Math.min(15, top - 3) // above the stubs
    marks.push(
      { k: 'text', c: 'step-f', x: -19, y, s: String(forward), a: 'end', step: forward },
      { k: 'path', c: 'mark-f', d: `M-16 ${y - 6.5}h7l-3.5 5z` },
    )
  }
  if (backward > 0) {
    marks.push({ k: 'path', c: reached ? 'mark-b' : 'mark-w', d: `M${w + 9} 14h7l-3.5 -5z` })
    marks.push({ k: 'text', c: reached ? 'step-b' : 'step-w', x: w + 20, y: 15, s: String(backward), step: backward })
  }
  if (now > 0) {
    const under = backward > 0 && now !== backward ? 25 : 11.5 // the number of its own visit stands above
    const isBeside = inStrip && paint.strip
    const y = isBeside ? h - strip / 2 : under
    const here = now === backward && !isBeside
    const text = here ? words('graph.now') : `${now} ${words('graph.now')}`
    const x = here ? w + 24 + textWidth(String(backward), SMALLEST) : w + 20
    if (!here) marks.push({ k: 'path', c: 'mark-b', d: `M${w + 9} ${y + 2.5}h7l-3.5 -5z` })
    marks.push({ k: 'text', c: 'step-b', x, y: y + 3.5, s: text })
  }
  return marks
}

function caption(stub: Stub, x: number, y: number, w: number, { words }: Measure): Mark {
  const text = words(stub.box === null ? 'graph.constant' : 'graph.no_gradient')
  return { k: 'text', c: 'stub-note', x: x + w / 2, y: y + 32, s: text, a: 'middle' }
}
