// The picture as plain marks (rect, path, text, image) with classes; page, embed and static SVG draw the same ones.

import type { Box, Group } from '../../api/types'
import { gradientTint, type Shade } from './colour'
import {
  display, normOf, WAITING, NONE, UNKNOWN, word, MATRIX_ROW, CELL_GAP, BRACKET, THUMB_HEIGHT, THUMB_WIDTH,
  type Display,
} from '../words/display'
import type { DrawnLink, Stub } from '../layout/fold'
import { cutEnd, cutMiddle, formatNumber, textWidth } from '../words/format'
import { icon, type IconName } from './icons'
import type { Frame, Knot, Placed, Wire, LabelPlace } from '../layout/geometry'
import { extent } from '../layout/extent'
import {
  ASIDE, capsuleText, capsuleWidth, cutText, forwardLabel, gradientLabel, HEAD, headOf, headOfGroup, isShared,
  keepsStrip, LABEL, LABEL_ROW, NAME, STRIP, stripLabel, stripText, STUB, stubGap, stubWidth, TITLE, type Head,
  type Measure,
} from './measure'
import type { Item, Mark } from './marks'
import type { BoxPaint, Cell, LinkPaint, Moment } from './moment'
import { LANE, lanePath, lanePathUp } from '../layout/route'

/** Lanes lie below every box; what waits lies below what has come. */
export function drawFrame(frame: Frame, group: Group, measure: Measure): Item {
  const head = headOfGroup(group, measure)
  const x = frame.title_x - frame.x
  const marks: Mark[] = [
    { k: 'rect', c: 'frame', x: 0, y: 0, w: frame.w, h: frame.h, r: 6 }, iconMark('icon', 'open', x, 8, 13),
  ]
  headText(
    marks, { ...head, aside: [head.aside, head.right].filter(Boolean).join(' · '), right: '' }, x + 17, 19,
    frame.title_w - 17, false, false,
  )
  return {
    id: group.id, kind: 'frame', x: frame.x, y: frame.y, w: frame.w, h: frame.h, marks,
    label: `${head.title} ${head.aside}`,
  }
}

export class Painter {
  /** Smallest and largest gradient norm of the view, for the tint; null in lesson-size graphs. */
  private readonly norms: readonly [number, number] | null
  private readonly ends = new Map<string, boolean>()

  constructor(
    readonly measure: Measure,
    readonly shade: Shade,
  ) {
    this.norms = measure.density === 'model' ? normRange(measure) : null
  }

  get tintRange(): readonly [number, number] | null {
    return this.norms
  }

  box(place: Placed, box: Box, moment: Moment): Item {
    const paint = moment.box(box.id)
    const marks: Mark[] = []
    const ghost = box.kind === 'ghost'
    const { w, h } = place
    marks.push({ k: 'rect', c: ghost ? 'hit' : 'body', x: 0, y: 0, w, h, r: 4 })
    const strip = keepsStrip(box, this.measure) ? STRIP : 0
    const body = { x: 0, y: HEAD, w, h: h - HEAD - strip }
    this.tint(marks, paint.gradient, body, strip === 0)
    this.strip(marks, paint, w, h)
    this.rules(marks, w, h, strip, ghost)
    marks.push(outline(paint, ghost, w, h))
    if (box.kind === 'leaf') marks.push({ k: 'rect', c: 'cap', x: -0.5, y: -1.5, w: w + 1, h: 3, r: 1.5 })
    const head = headOf(box, this.measure)
    const family: IconName = paint.trouble === 'raised' ? 'err' : ghost ? 'ghost' : icon(box.family)
    marks.push(iconMark(ghost ? 'icon-ghost' : paint.trouble === 'raised' ? 'icon-err' : 'icon', family, 7, 5, 13))
    if (isShared(box)) marks.push(iconMark('icon-ghost', 'shared', w - 19, 6, 11))
    headText(marks, head, 25, 15.5, w - 25 - (isShared(box) ? 24 : 8), ghost, box.kind === 'leaf')
    const right = { ...body, x: w / 2, w: w / 2 }
    if (ghost) this.cell(marks, paint.gradient.kind === 'raised' ? paint.gradient : paint.value, body, 'ghost')
    else this.cell(marks, paint.value, { ...body, w: w / 2 }, 'value')
    if (box.kind === 'leaf' && box.node != null) this.gradCell(marks, paint, right)
    else if (!ghost) this.cell(marks, paint.gradient, right, this.norms ? 'value' : 'gradient')
    if (this.measure.margins)
      marks.push(...this.measure.spacious!.margins(box, paint, moment, { w, h, strip }, this.measure))
    this.stubs(marks, box, body)
    if (this.measure.story.hasSeed(box.id)) this.seed(marks, box.id, moment, w, h)
    return { ...place, kind: 'box', marks, label: this.say(box, paint) }
  }

  /** A group drawn folded: two sheets behind, the value and gradient of its last box. */
  group(place: Placed, group: Group, inside: readonly Box[], moment: Moment): Item {
    const { w, h } = place
    const marks: Mark[] = [
      { k: 'rect', c: 'sheet', x: 6, y: 6, w, h, r: 4 },
      { k: 'rect', c: 'sheet', x: 3, y: 3, w, h, r: 4 },
      { k: 'rect', c: 'body', x: 0, y: 0, w, h, r: 4 },
    ]
    const paint = this.groupPaint(group, inside, moment)
    const body = { x: 0, y: HEAD, w, h: h - HEAD }
    this.tint(marks, paint.gradient, body, true)
    this.rules(marks, w, h, 0, false)
    marks.push(outline(paint, false, w, h), iconMark('icon', 'group', 7, 5, 13))
    headText(marks, headOfGroup(group, this.measure), 25, 15.5, w - 33, false, false)
    this.cell(marks, paint.value, { ...body, w: w / 2 }, 'value')
    this.cell(marks, paint.gradient, { ...body, x: w / 2, w: w / 2 }, this.norms ? 'value' : 'gradient')
    const root = inside.find((box) => this.measure.story.hasSeed(box.id))
    if (root && this.isEnd(group, inside)) this.seed(marks, root.id, moment, w, h)
    const head = headOfGroup(group, this.measure)
    return { ...place, kind: 'group', marks, label: `${head.title} ${head.aside}` }
  }

  /** Whether no wire leaves a folded group, so that there is room for a seed under it. */
  private isEnd(group: Group, inside: readonly Box[]): boolean {
    let end = this.ends.get(group.id)
    if (end === undefined) {
      const own = new Set(inside.map((box) => box.id))
      this.ends.set(
        group.id,
        (end = inside.every((box) => this.measure.story.linksOut(box.id).every((link) => own.has(link.target)))),
      )
    }
    return end
  }

  groupPaint(group: Group, inside: readonly Box[], moment: Moment): BoxPaint {
    const paints = inside.map((box) => moment.box(box.id))
    const isOwn = inside.some((box) => box.id === moment.currentBox)
    const own = paints.find((paint) => paint.progress === 'current' || paint.progress === 'forward')
    const last = inside.find((box) => box.node != null && box.node === group.node) ?? inside[inside.length - 1]
    const lastPaint = last ? moment.box(last.id) : undefined
    const progress = isOwn && own
      ? own.progress
      : paints.some((paint) => paint.progress === 'visited')
        ? 'visited'
        : paints.every((paint) => paint.progress === 'future')
          ? 'future'
          : 'waiting'
    return {
      progress,
      value: lastPaint?.value ?? { kind: 'blank' },
      gradient: lastPaint?.gradient ?? { kind: 'blank' },
      strip: null,
      leftOut: false,
      returned: false,
      trouble: paints.find((paint) => paint.trouble !== '')?.trouble ?? '',
    }
  }

  wire(wire: Wire, links: readonly DrawnLink[], moment: Moment): Item {
    const paints = links.map((link) => moment.link(link))
    const first = links[0]!
    const paint = together(paints)
    const marks: Mark[] = []
    const ghost = first.kind !== 'data'
    const [x, y] = originOf(wire)
    const knots = wire.knots.map(([kx, ky]): Knot => [kx - x, ky - y])
    const one = ghost
    marks.push({ k: 'path', c: 'edge-hit', d: lanePath(knots, wire.upward, 0) })
    marks.push(...this.lanes(wire, knots, paint, first, one))
    if (wire.badge) this.badge(marks, wire, first, x, y)
    if (wire.forward) this.forwardText(marks, first, wire.forward, x, y, paint)
    if (wire.gradient) this.gradientText(marks, links, paints, wire.gradient, x, y)
    const box = extent(wire)
    return { id: wire.id, kind: 'wire', ...box, x, y, marks, label: this.sayLink(first, paint) }
  }

  private lanes(wire: Wire, knots: readonly Knot[], paint: LinkPaint, link: DrawnLink, alone: boolean): Mark[] {
    const side = alone ? 0 : -1
    const cut = link.kind === 'cut' || link.kind === 'ghost'
    const marks: Mark[] = []
    const down = lanePath(knots, wire.upward, side)
    const [endX, endY] = knots[knots.length - 1]!
    const [startX, startY] = knots[0]!
    const forward = cut ? (paint.forward === 'waiting' ? 'f-waiting' : 'f-ghost') : `f-${paint.forward}`
    marks.push({ k: 'path', c: forward, d: wire.ends_at_box ? shorten(down, endY, 4) : down })
    // Up to the scissors the value is still recorded.
    if (link.kind === 'cut' && wire.badge && knots.every(([x]) => x === startX))
      marks.push({ k: 'path', c: `f-${paint.forward}`, d: `M${startX} ${startY}V${wire.badge.y - originOf(wire)[1]}` })
    if (wire.ends_at_box)
      marks.push({
        k: 'path', c: cut && paint.forward !== 'waiting' ? 'head-ghost' : `head-${paint.forward}`,
        d: arrowDown(endX + side * LANE, endY),
      })
    if (alone || paint.gradient === 'absent') return marks
    const up = lanePathUp(knots, wire.upward, 1)
    const current = paint.gradient === 'current'
    const hasHead = wire.starts_at_box && paint.gradient !== 'waiting'
    marks.push({ k: 'path', c: `g-${paint.gradient}`, d: hasHead ? shorten(up, startY, current ? -7 : -5) : up })
    if (hasHead)
      marks.push({ k: 'path', c: current ? 'head-now' : 'head-passed', d: arrowUp(startX + LANE, startY, current) })
    return marks
  }

  private badge(marks: Mark[], wire: Wire, link: DrawnLink, ox: number, oy: number): void {
    const { bar, side, lift, text: room } = wire.badge!
    const x = wire.badge!.x - ox
    const y = wire.badge!.y - oy
    if (link.kind === 'cut') {
      const calm = this.measure.story.isFound(link) ? '' : '-calm'
      if (bar > 0) marks.push({ k: 'path', c: `bar${calm}`, d: `M${x - bar} ${y}H${x - 18}M${x + 18} ${y}H${x + bar}` })
      marks.push(
        { k: 'rect', c: `scissors${calm}`, x: x - 13, y: y - 13, w: 26, h: 26, r: 13 },
        iconMark(calm ? 'icon-ghost' : 'icon-err', 'cut', x - 7, y - 7, 14),
      )
      const rows = room > 0 ? cutText(link, this.measure) : []
      rows.forEach((row, at) =>
        marks.push({
          k: 'text', c: at > 0 ? 'cut-line' : calm ? 'cut-calm' : 'cut-title', x: x + side * (bar + 8),
          y: y + lift + (rows.length === 1 ? 4 : -4 + at * 16), s: row, a: side > 0 ? undefined : 'end',
        }),
      )
      return
    }
    const text = capsuleText(link, this.measure)
    const w = capsuleWidth(text)
    marks.push(
      { k: 'rect', c: 'capsule', x: x - w / 2, y: y - 8, w, h: 16, r: 8 },
      { k: 'text', c: 'capsule-text', x, y: y + 3.5, s: text, a: 'middle' },
    )
  }

  private forwardText(
    marks: Mark[], link: DrawnLink, place: LabelPlace, ox: number, oy: number, paint: LinkPaint,
  ): void {
    if (place.variant < 0) {
      marks.push({
        k: 'rect', c: 'head-waiting', x: place.x - ox, y: place.y - oy, w: place.w, h: place.h, r: place.w / 2,
      })
      return
    }
    const rows = forwardLabel(link, this.measure, place.variant === 0)
    const right = place.x + place.w - ox
    rows.forEach((row, at) => {
      const isSlot = at > 0 || (row === link.label && link.label !== '')
      marks.push({
        k: 'text', c: isSlot ? 'slot' : paint.forward === 'waiting' ? 'slot' : 'shape', x: right,
        y: place.y - oy + 10.5 + at * 13, s: row, a: 'end',
      })
    })
  }

  private gradientText(
    marks: Mark[], links: readonly DrawnLink[], paints: readonly LinkPaint[], place: LabelPlace, ox: number,
    oy: number,
  ): void {
    const arrived = paints.filter((paint) => paint.value)
    if (arrived.length === 0) return
    const [x, y] = [place.x - ox, place.y - oy]
    if (place.variant < 0) {
      marks.push({ k: 'rect', c: 'dot-g', x, y, w: place.w, h: place.h, r: place.w / 2 })
      return
    }
    if (links.length > 1) {
      const sum = this.sumOf(links, paints)
      if (sum !== null) marks.push({ k: 'text', c: 'label-g', x, y: y + 10.5, s: sum })
      return
    }
    const shown = gradientLabel(arrived[0]!.value!, place.variant === 0 && this.measure.density === 'lesson')
    const now = paints[0]!.gradient === 'current'
    if (shown.kind === 'matrix') matrixMarks(marks, shown, x, y, 'gradient-label', LABEL)
    else if (shown.kind === 'number')
      marks.push({ k: 'text', c: now ? 'label-b' : 'label-g', x, y: y + place.h / 2 + 3.5, s: shown.text })
    else displayMarks(marks, shown, x + shown.width / 2, y + place.h / 2, 'gradient')
  }

  /** What a trunk carries in all: the sum of its branches' gradients. */
  private sumOf(links: readonly DrawnLink[], paints: readonly LinkPaint[]): string | null {
    const tensors = paints.flatMap((paint) => (paint.value ? [paint.value] : []))
    if (tensors.length < links.length) return null
    if (tensors.every((tensor) => tensor.data && tensor.data.length === tensors[0]!.data?.length)) {
      const sums = tensors[0]!.data!.map((_, at) => tensors.reduce((sum, tensor) => sum + Number(tensor.data![at]), 0))
      if (sums.every((sum) => sum === sums[0])) return formatNumber(sums[0]!)
      return formatNumber(Number(Math.sqrt(sums.reduce((sum, value) => sum + value * value, 0)).toPrecision(3)))
    }
    const { story } = this.measure
    const whole = links.length === story.linksOut(links[0]!.source).filter((link) => link.kind === 'data').length
    const [entering] = whole ? story.gradientsEntering(links[0]!.source).slice(-1) : []
    return entering ? formatNumber(Number(normOf(entering).toPrecision(3))) : null
  }

  private tint(marks: Mark[], gradient: Cell, body: Area, roundsBottom: boolean): void {
    if (!this.norms || gradient.kind !== 'tensor') return
    const fill = gradientTint(normOf(gradient.tensor), this.norms[0], this.norms[1], this.shade)
    marks.push({ k: 'rect', c: '', x: body.w / 2, y: body.y, w: body.w / 2, h: body.h, r: roundsBottom ? 2 : 0, fill })
  }

  private rules(marks: Mark[], w: number, h: number, strip: number, ghost: boolean): void {
    const under = strip > 0 ? `M0 ${h - strip}H${w}` : ''
    marks.push({
      k: 'path', c: ghost ? 'hair-ghost' : 'hair',
      d: `M0 ${HEAD}H${w}${ghost ? '' : `M${w / 2} ${HEAD}V${h - strip}`}${under}`,
    })
  }

  private strip(marks: Mark[], { strip, leftOut, returned }: BoxPaint, w: number, h: number): void {
    if (!strip) return
    const top = h - STRIP
    if (strip.kind === 'error') {
      marks.push(
        { k: 'rect', c: 'strip-err', x: 0.5, y: top, w: w - 1, h: STRIP - 0.5, r: 3 },
        iconMark('icon-err', 'warn', 8, top + 3.5, 12),
      )
      marks.push({ k: 'text', c: 'strip-fail', x: 25, y: top + 13, s: cutEnd(this.failureWords(), ASIDE, w - 33) })
      return
    }
    const text = stripText(strip, this.measure.words)
    const lit = text !== ''
    const none = leftOut && !lit ? this.measure.words('graph.no_arrival') : ''
    const role = returned ? cutEnd(this.measure.words('graph.returned'), ASIDE, w - 33) : stripLabel(strip)
    const label = none && textWidth(role, ASIDE) + textWidth(none, ASIDE) > w - 41 ? '' : role
    if (lit) marks.push({ k: 'rect', c: 'strip-done', x: 0.5, y: top, w: w - 1, h: STRIP - 0.5, r: 3 })
    marks.push(iconMark(lit ? 'icon-grad' : 'icon-ghost', strip.kind === 'hook' ? 'hook' : 'acc', 8, top + 3.5, 12))
    marks.push({ k: 'text', c: lit ? 'sum-label' : 'strip-label', x: 25, y: top + 13, s: label })
    if (lit)
      marks.push({
        k: 'text', c: 'sum', x: w - 8, y: top + 13.5, s: cutMiddle(text, 11, w - 42 - textWidth(label, ASIDE)),
        a: 'end',
      })
    else if (none) marks.push({ k: 'text', c: 'strip-label', x: w - 8, y: top + 13, s: none, a: 'end' })
  }

  /** In the reader's language where a finding explains the failure; else PyTorch's own message. */
  private failureWords(): string {
    const { failure, findings } = this.measure.story.index.trace
    const finding = findings.find((one) => one.severity === 'error')
    const key = `finding.${finding?.code}.title`
    const said = finding ? this.measure.words(key, finding.parameters ?? {}).replaceAll('`', '') : key
    return said === key ? (failure?.message ?? '') : said
  }

  private cell(marks: Mark[], cell: Cell, area: Area, tone: Tone): void {
    if (cell.kind === 'blank') return
    const shown = cell.kind === 'unknown'
      ? UNKNOWN
      : cell.kind === 'raised'
        ? word(cell.text, 'plain')
        : cell.kind === 'waiting'
          ? WAITING
          : cell.kind === 'none'
            ? NONE
            : display(cell.tensor)
    const middle = area.x + area.w / 2
    if (shown.kind === 'thumb') this.thumb(marks, shown, area)
    else
      displayMarks(
        marks, shown, middle, area.y + area.h / 2,
        cell.kind === 'none' ? 'none' : cell.kind === 'raised' ? 'cut' : tone,
      )
  }

  private gradCell(marks: Mark[], paint: BoxPaint, area: Area): void {
    const shown = paint.gradient.kind === 'tensor' ? display(paint.gradient.tensor) : NONE
    if (shown.kind === 'thumb') {
      this.thumb(marks, shown, area)
      return
    }
    marks.push({ k: 'text', c: 'tag', x: area.x + 6, y: area.y + 11, s: '.grad' })
    const middle = Math.max(area.x + area.w / 2, area.x + TAG + shown.width / 2)
    displayMarks(
      marks, shown, middle, area.y + area.h / 2,
      paint.gradient.kind === 'none' ? (paint.trouble === 'cut' ? 'cut' : 'none') : this.norms ? 'value' : 'gradient',
    )
  }

  private thumb(marks: Mark[], shown: Display & { kind: 'thumb' }, area: Area): void {
    const x = area.x + 7
    const y = area.y + (area.h - THUMB_HEIGHT) / 2
    if (shown.stacked)
      marks.push({
        k: 'path', c: 'picture',
        d: `M${x + 3} ${y - 1}V${y - 2.5}H${x + THUMB_WIDTH + 2.5}V${y + THUMB_HEIGHT - 3}H${x + THUMB_WIDTH + 1}`,
      })
    marks.push(
      { k: 'image', tensor: shown.tensor, x, y, w: THUMB_WIDTH, h: THUMB_HEIGHT },
      { k: 'rect', c: 'picture', x, y, w: THUMB_WIDTH, h: THUMB_HEIGHT },
    )
    const left = x + THUMB_WIDTH + 9
    if (shown.trouble) {
      displayMarks(
        marks,
        {
          kind: 'word', text: shown.trouble.split(' ')[0]!, look: shown.trouble.startsWith('NaN') ? 'hatch' : 'solid',
          width: 34, height: 16,
        },
        left + 17,
        y + THUMB_HEIGHT / 2,
        'value',
      )
      return
    }
    marks.push(
      { k: 'text', c: 'norm', x: left, y: y + 8.5, s: this.measure.words('graph.norm') },
      { k: 'text', c: 'value', x: left, y: y + 20.5, s: shown.norm },
    )
  }

  private stubs(marks: Mark[], box: Box, body: Area): void {
    const stubs = this.measure.sheet.stubs.get(box.id) ?? []
    const top = body.y + body.h / 2 - (stubs.length * 24) / 2 + 2
    stubs.forEach((stub, at) => this.stub(marks, stub, top + at * 24))
  }

  private stub(marks: Mark[], stub: Stub, y: number): void {
    const w = stubWidth(stub, this.measure)
    const x = -stubGap(this.measure) - w
    marks.push({ k: 'rect', c: 'stub', x, y, w, h: STUB.height, r: 3 })
    marks.push({
      k: 'text', c: 'stub-text', x: x + w / 2, y: y + 13.5, s: cutEnd(stub.text, LABEL, w - 12), a: 'middle',
    })
    marks.push(
      { k: 'path', c: 'stub-lane', d: `M${x + w} ${y + 10}H-5` },
      { k: 'path', c: 'head-ghost', d: `M-6 ${y + 7}l6 3l-6 3z` },
    )
    if (this.measure.captions) marks.push(this.measure.spacious!.caption(stub, x, y, w, this.measure))
  }

  private seed(marks: Mark[], box: string, moment: Moment, w: number, h: number): void {
    const seed = moment.seed(box)
    if (!seed) return
    const x = w / 2 + LANE
    const shown = seed.state === 'waiting' ? 'g-waiting' : seed.state === 'current' ? 'g-current' : 'g-passed'
    marks.push({ k: 'path', c: shown, d: `M${x} ${h + 26}V${h + (seed.state === 'waiting' ? 1 : 6)}` })
    if (seed.state !== 'waiting')
      marks.push({
        k: 'path', c: seed.state === 'current' ? 'head-now' : 'head-passed',
        d: arrowUp(x, h, seed.state === 'current'),
      })
    const value = seed.value ? gradientLabel(seed.value, false) : null
    const text = value?.kind === 'number' ? value.text : ''
    if (text)
      marks.push({ k: 'text', c: seed.state === 'current' ? 'label-b' : 'label-g', x: x + 10, y: h + 20, s: text })
    marks.push({
      k: 'text', c: seed.state === 'waiting' ? 'strip-label' : 'call',
      x: x + 10 + (text ? textWidth(text, LABEL) + 8 : 0), y: h + 20, s: seed.text,
    })
  }

  private say(box: Box, paint: BoxPaint): string {
    const parts = [
      headOf(box, this.measure).title, box.kind === 'leaf' ? '' : box.name, sayCell(paint.value),
      paint.gradient.kind === 'tensor' ? `${this.measure.words('graph.backward')} ${sayCell(paint.gradient)}` : '',
    ]
    return parts.filter(Boolean).join(' · ')
  }

  private sayLink(link: DrawnLink, paint: LinkPaint): string {
    const name = (id: string) => this.measure.sheet.boxes.get(id)?.name || this.measure.sheet.boxes.get(id)?.title || id
    const shape = forwardLabel(link, this.measure, true).join(' ')
    const gradient = paint.value
      ? `${this.measure.words('graph.backward')} ${sayCell({ kind: 'tensor', tensor: paint.value })}`
      : ''
    return [`${name(link.source)} → ${name(link.target)}`, shape, gradient].filter(Boolean).join(' · ')
  }
}

/** Width of the `.grad` tag in a leaf's right cell. */
const TAG = 42

type Tone = 'value' | 'gradient' | 'ghost' | 'none' | 'cut'

interface Area {
  x: number
  y: number
  w: number
  h: number
}

function sayCell(cell: Cell): string {
  if (cell.kind !== 'tensor') return cell.kind === 'none' ? 'None' : cell.kind === 'raised' ? cell.text : ''
  const shown = display(cell.tensor)
  if (shown.kind === 'matrix') return `[${shown.rows.map((row) => row.join(' ')).join('; ')}]`
  return shown.kind === 'thumb' ? `‖${shown.norm}‖` : shown.text
}

function outline(paint: BoxPaint, ghost: boolean, w: number, h: number): Mark {
  const kind = paint.trouble === 'raised' || paint.trouble === 'nonfinite'
    ? 'trouble'
    : ghost && paint.progress !== 'forward'
      ? 'ghost'
      : paint.progress
  return { k: 'rect', c: `o-${kind}`, x: 0, y: 0, w, h, r: 4 }
}

function headText(marks: Mark[], head: Head, x: number, y: number, room: number, ghost: boolean, role: boolean): void {
  const right = cutEnd(head.right, NAME, room * 0.6)
  const rightWidth = right ? textWidth(right, NAME) + 12 : 0
  const title = cutMiddle(head.title, TITLE, room - rightWidth)
  marks.push({ k: 'text', c: ghost ? 'title-ghost' : 'title', x, y, s: title })
  const left = room - rightWidth - textWidth(title, TITLE) - 8
  const aside = asideThatFits(head.aside, left)
  if (aside) marks.push({ k: 'text', c: 'aside', x: x + textWidth(title, TITLE) + 8, y, s: aside })
  if (right)
    marks.push({ k: 'text', c: role ? 'role' : ghost ? 'name-ghost' : 'name', x: x + room, y, s: right, a: 'end' })
}

/** Whole parts first: `Linear · 4 nodes`, then `Linear`, then its first words. */
function asideThatFits(aside: string, room: number): string {
  for (const last of [/( · |^)[^·]*$/, /( |^)[^ ]*$/]) {
    for (
      let text = last.source.includes('·') ? aside : aside.replace(/ · .*/, '');
      text !== '';
      text = text.replace(last, '')
    )
      if (textWidth(text, ASIDE) <= room) return text
  }
  return ''
}

function iconMark(c: string, name: IconName, x: number, y: number, size: number): Mark {
  return { k: 'path', c, d: name, at: [x, y, size / 16] }
}

function displayMarks(marks: Mark[], shown: Display, cx: number, cy: number, tone: Tone): void {
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

function matrixMarks(
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
        k: 'text', c: cell === 'NaN' || cell.endsWith('Inf') ? 'text-cut' : text, x: right,
        y: y + at * row + row - 3.5, s: cell, a: 'end',
      })
      right += CELL_GAP * scale
    })
  })
}

function arrowDown(x: number, y: number): string {
  return `M${tenths(x)} ${tenths(y)}l-3 -6h6z`
}

function arrowUp(x: number, y: number, bold: boolean): string {
  return `M${tenths(x)} ${tenths(y)}${bold ? 'l-4.5 8.5h9z' : 'l-3 6h6z'}`
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10
}

/** The lane stops inside its arrowhead. */
function shorten(d: string, y: number, by: number): string {
  return d
    .replace(/ (-?[\d.]+)$/, (all, last: string) => (Number(last) === y ? ` ${y - by}` : all))
    .replace(/V(-?[\d.]+)$/, (all, last: string) => (Number(last) === y ? `V${y - by}` : all))
}

function together(paints: readonly LinkPaint[]): LinkPaint {
  const first = paints[0]!
  const gradient = paints.some((paint) => paint.gradient === 'current')
    ? 'current'
    : paints.some((paint) => paint.gradient === 'passed')
      ? 'passed'
      : first.gradient
  const forward = paints.some((paint) => paint.forward === 'current')
    ? 'current'
    : paints.some((paint) => paint.forward === 'done')
      ? 'done'
      : 'waiting'
  return { forward, gradient, value: paints.find((paint) => paint.value)?.value ?? null }
}

function originOf(wire: Wire): Knot {
  const { x, y } = extent(wire)
  return [x, y]
}

function normRange(measure: Measure): readonly [number, number] | null {
  let [low, high] = [Infinity, 0]
  for (const id of measure.sheet.boxes.keys()) {
    for (const tensor of measure.story.gradientsEntering(id)) {
      const norm = normOf(tensor)
      if (!(norm > 0) || norm === Infinity) continue
      low = Math.min(low, norm)
      high = Math.max(high, norm)
    }
  }
  return high > 0 ? [low, high] : null
}
