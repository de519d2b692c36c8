// The picture as plain marks (rect, path, text, image) with classes; page, embed and static SVG draw the same ones.

import type { Box, Group } from '../../api/types'
import type { Frame, Placed, Wire } from '../layout/geometry'
import type { DrawnLink, Stub } from '../layout/fold'
import { LANE } from '../layout/route'
import {
  brief, NONE, normed, normOf, THUMB_HEIGHT, THUMB_WIDTH, WAITING, word, type Display,
} from '../words/display'
import { isGradient, listed } from '../trace/collectives'
import { columnMarks } from './collective'
import { cutEnd, cutPath, textWidth } from '../words/format'
import { gradientTint, type Shade } from './colour'
import { icon, type IconName } from './icons'
import type { Item, Mark } from './marks'
import {
  ASIDE, cellOf, gradientLabel, gradientTag, HEAD, headOf, headOfGroup, isShared, keepsStrip, LABEL, STRIP, stripLabel,
  stripText, STUB, stubGap, stubWidth, tagWidth, typeOf, valueTag, type Head, type Measure, type StepNumbers,
} from './measure'
import type { BoxPaint, Cell, Moment, SeedPaint } from './moment'
import { arrowUp, displayMarks, headText, iconMark, sayCell, type Tone } from './small-marks'
import { WirePainter } from './wires'

function drawFrame(frame: Frame, group: Group, measure: Measure): Item {
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
  private readonly wires: WirePainter
  /** By its place, what each thing looked like when it was last drawn: a step draws only what it changes. */
  private readonly drawn = new WeakMap<object, { look: string; item: Item }>()

  constructor(
    readonly measure: Measure,
    readonly shade: Shade,
  ) {
    this.norms = measure.density === 'model' ? normRange(measure) : null
    this.wires = new WirePainter(measure)
  }

  get tintRange(): readonly [number, number] | null {
    return this.norms
  }

  frame(frame: Frame, group: Group): Item {
    return this.again(frame, group, () => drawFrame(frame, group, this.measure))
  }

  wire(wire: Wire, links: readonly DrawnLink[], moment: Moment): Item {
    const paints = links.map((link) => moment.link(link))
    return this.again(wire, paints, () => this.wires.wire(wire, links, paints))
  }

  box(place: Placed, box: Box, moment: Moment): Item {
    const paint = moment.box(box.id)
    const seed = moment.seed(box.id)
    const steps = this.measure.margins ? this.measure.spacious!.steps(box.id, moment, this.measure) : null
    return this.again(place, [paint, seed, steps], () => this.drawBox(place, box, paint, seed, steps))
  }

  /** A group drawn folded. */
  group(place: Placed, group: Group, moment: Moment): Item {
    const paint = moment.group(group)
    const seed = this.seedUnder(group, moment)
    return this.again(place, [paint, seed], () => this.drawGroup(place, group, paint, seed))
  }

  private again(place: object, look: unknown, draw: () => Item): Item {
    const said = JSON.stringify(look, byId)
    let last = this.drawn.get(place)
    if (last?.look !== said) this.drawn.set(place, (last = { look: said, item: draw() }))
    return last.item
  }

  private drawBox(place: Placed, box: Box, paint: BoxPaint, seed: SeedPaint | null, steps: StepNumbers | null): Item {
    if (box.kind === 'collective') return this.drawCollective(place, box, paint)
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
    const head = headOf(box, this.measure, paint.updated)
    const family: IconName = paint.trouble === 'raised' ? 'err' : ghost ? 'ghost' : icon(box.family)
    marks.push(iconMark(ghost ? 'icon-ghost' : paint.trouble === 'raised' ? 'icon-err' : 'icon', family, 7, 5, 13))
    if (isShared(box)) marks.push(iconMark('icon-ghost', 'shared', w - 19, 6, 11))
    headText(marks, head, 25, 15.5, w - 25 - (isShared(box) ? 24 : 8), ghost, box.kind === 'leaf')
    const right = { ...body, x: w / 2, w: w / 2 }
    if (ghost) this.cell(marks, paint.gradient.kind === 'raised' ? paint.gradient : paint.value, body, 'ghost')
    else this.cell(marks, paint.value, { ...body, w: w / 2 }, 'value', valueTag(box, this.measure))
    if (!ghost) {
      const tone = paint.trouble === 'cut' ? 'cut' : this.norms ? 'value' : 'gradient'
      this.cell(marks, paint.gradient, right, tone, gradientTag(box, this.measure))
    }
    const top = this.stubs(marks, box, body)
    if (steps)
      marks.push(...this.measure.spacious!.margins!(paint, steps, { w, h, strip, top }, this.measure))
    if (seed) this.seed(marks, seed, w, h)
    return { ...place, kind: 'box', marks, label: this.say(box, paint, head) }
  }

  private drawCollective(place: Placed, box: Box, paint: BoxPaint): Item {
    const { w, h } = place
    const { story } = this.measure
    const carries = story.linksOut(box.id).some((link) => isGradient(link, this.measure.sheet.boxes.get(link.target)))
    const head = headOf(box, this.measure)
    const marks: Mark[] = [
      { k: 'rect', c: 'body', x: 0, y: 0, w, h, r: 4 }, { k: 'path', c: 'hair', d: `M0 ${HEAD}H${w}` },
      outline(paint, false, w, h), iconMark('icon', icon(box.family), 7, 5, 13),
    ]
    headText(marks, head, 25, 15.5, w - 33, false, false)
    marks.push(...columnMarks(box, paint.exchanged, place, carries ? 'gradient' : 'value'))
    const told = paint.exchanged.map(({ op, gave, got }) =>
      `rank ${op.rank} ${[gave, got].map((tensors) => listed(tensors, brief)).join(' → ')}`)
    return { ...place, kind: 'box', marks, label: [head.title, head.aside, ...told].filter(Boolean).join(' · ') }
  }

  /** Two sheets behind, the value and gradient of its last box. */
  private drawGroup(place: Placed, group: Group, paint: BoxPaint, seed: SeedPaint | null): Item {
    const { w, h } = place
    const head = headOfGroup(group, this.measure)
    const marks: Mark[] = [
      { k: 'rect', c: 'sheet', x: 6, y: 6, w, h, r: 4 },
      { k: 'rect', c: 'sheet', x: 3, y: 3, w, h, r: 4 },
      { k: 'rect', c: 'body', x: 0, y: 0, w, h, r: 4 },
    ]
    const body = { x: 0, y: HEAD, w, h: h - HEAD }
    this.tint(marks, paint.gradient, body, true)
    const isWhole = paint.gradient.kind === 'blank'
    this.rules(marks, w, h, 0, isWhole)
    marks.push(outline(paint, false, w, h), iconMark('icon', 'group', 7, 5, 13))
    headText(marks, head, 25, 15.5, w - 33, false, false)
    this.cell(marks, paint.value, { ...body, w: isWhole ? w : w / 2 }, 'value')
    this.cell(marks, paint.gradient, { ...body, x: w / 2, w: w / 2 }, this.norms ? 'value' : 'gradient')
    if (seed) this.seed(marks, seed, w, h)
    return { ...place, kind: 'group', marks, label: `${head.title} ${head.aside}` }
  }

  /** What a pass starts with in a folded group; where no wire leaves it there is room for that under it. */
  private seedUnder(group: Group, moment: Moment): SeedPaint | null {
    const root = this.measure.story.rootIn(group.id)
    return root === null ? null : moment.seed(root)
  }

  private tint(marks: Mark[], gradient: Cell, body: Area, roundsBottom: boolean): void {
    const norm = gradient.kind === 'tensor' ? normOf(gradient.tensor) : gradient.kind === 'norm' && gradient.norm
    if (!this.norms || norm === false) return
    const fill = gradientTint(norm, this.norms[0], this.norms[1], this.shade)
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
    const own = returned && strip.kind !== 'error'
    const role = cutEnd(own ? this.measure.words('graph.returned') : stripLabel(strip, this.measure), ASIDE, w - 33)
    if (strip.kind === 'error') {
      marks.push(
        { k: 'rect', c: 'strip-err', x: 0.5, y: top, w: w - 1, h: STRIP - 0.5, r: 3 },
        iconMark('icon-err', 'warn', 8, top + 3.5, 12),
      )
      marks.push({ k: 'text', c: 'strip-fail', x: 25, y: top + 13, s: role })
      return
    }
    const lit = strip.terms.length > 0
    const none = leftOut && !lit ? this.measure.words('graph.no_arrival') : ''
    const label = none && textWidth(role, ASIDE) + textWidth(none, ASIDE) > w - 41 ? '' : role
    if (lit) marks.push({ k: 'rect', c: 'strip-done', x: 0.5, y: top, w: w - 1, h: STRIP - 0.5, r: 3 })
    marks.push(iconMark(lit ? 'icon-grad' : 'icon-ghost', strip.kind === 'hook' ? 'hook' : 'acc', 8, top + 3.5, 12))
    marks.push({ k: 'text', c: lit ? 'sum-label' : 'strip-label', x: 25, y: top + 13, s: label })
    const room = w - 42 - textWidth(label, ASIDE)
    const text = stripText(strip, this.measure.words, room)
    if (lit) marks.push({ k: 'text', c: 'sum', x: w - 8, y: top + 13.5, s: text, a: 'end' })
    else if (none) marks.push({ k: 'text', c: 'strip-label', x: w - 8, y: top + 13, s: none, a: 'end' })
  }

  /** `of`: what of several things the cell holds. */
  private cell(marks: Mark[], cell: Cell, area: Area, tone: Tone, of = ''): void {
    if (cell.kind === 'blank') return
    const { shown, tag } = cell.kind === 'tensor' || cell.kind === 'unknown'
      ? cellOf(cell.tensor, of, this.measure, area.w - 20)
      : { tag: of, shown: placeholder(cell) }
    if (shown.kind === 'thumb') {
      this.thumb(marks, shown, area)
      return
    }
    if (tag) marks.push({ k: 'text', c: 'tag', x: area.x + 6, y: area.y + area.h / 2 + 4, s: tag })
    displayMarks(
      marks, shown, area.x + Math.max(area.w / 2, tagWidth(tag) + 8 + shown.width / 2), area.y + area.h / 2,
      cell.kind === 'none' && tone !== 'cut' ? 'none' : cell.kind === 'raised' ? 'cut' : tone,
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
    const s = shown.tensor.dtype !== 'bool' ? this.measure.words('graph.norm') : shown.norm && 'True'
    marks.push(
      { k: 'text', c: 'norm', x: left, y: y + 8.5, s },
      { k: 'text', c: 'value', x: left, y: y + 20.5, s: shown.norm },
    )
  }

  /** Where the first of them begins. */
  private stubs(marks: Mark[], box: Box, body: Area): number {
    const stubs = this.measure.sheet.stubs.get(box.id) ?? []
    const top = body.y + body.h / 2 - (stubs.length * 24) / 2 + 2
    stubs.forEach((stub, at) => this.stub(marks, stub, top + at * 24, at === stubs.length - 1))
    return top
  }

  private stub(marks: Mark[], stub: Stub, y: number, isLowest: boolean): void {
    const w = stubWidth(stub, this.measure)
    const x = -stubGap(this.measure) - w
    marks.push({ k: 'rect', c: 'stub', x, y, w, h: STUB.height, r: 3 })
    marks.push({
      k: 'text', c: 'stub-text', x: x + w / 2, y: y + 13.5, s: cutPath(stub.text, LABEL, w - 12), a: 'middle',
    })
    marks.push(
      { k: 'path', c: 'stub-lane', d: `M${x + w} ${y + 10}H-5` },
      { k: 'path', c: 'head-ghost', d: `M-6 ${y + 7}l6 3l-6 3z` },
    )
    if (this.measure.captions && isLowest) marks.push(this.measure.spacious!.caption(stub, x, y, w, this.measure))
  }

  private seed(marks: Mark[], seed: SeedPaint, w: number, h: number): void {
    const x = w / 2 + LANE
    const shown = seed.state === 'waiting' ? 'g-waiting' : seed.state === 'current' ? 'g-current' : 'g-passed'
    marks.push({ k: 'path', c: shown, d: `M${x} ${h + 26}V${h + (seed.state === 'waiting' ? 1 : 6)}` })
    if (seed.state !== 'waiting')
      marks.push({
        k: 'path', c: seed.state === 'current' ? 'head-now' : 'head-passed',
        d: arrowUp(x, h, seed.state === 'current'),
      })
    const value = seed.value ? gradientLabel(seed.value, 0) : null
    const text = value?.kind === 'number' ? value.text : ''
    if (text)
      marks.push({ k: 'text', c: seed.state === 'current' ? 'label-b' : 'label-g', x: x + 10, y: h + 20, s: text })
    marks.push({
      k: 'text', c: seed.state === 'waiting' ? 'strip-label' : 'call',
      x: x + 10 + (text ? textWidth(text, LABEL) + 8 : 0), y: h + 20, s: seed.text,
    })
  }

  private say(box: Box, paint: BoxPaint, { title, right }: Head): string {
    const parts = [
      ...(box.kind === 'leaf' ? [title, right] : [typeOf(box, this.measure), box.name]),
      sayCell(paint.value),
      paint.gradient.kind === 'tensor' ? `${this.measure.words('graph.backward')} ${sayCell(paint.gradient)}` : '',
    ]
    return parts.filter(Boolean).join(' · ')
  }

}

function placeholder(cell: Cell): Display {
  if (cell.kind === 'raised') return word(cell.text, 'plain')
  if (cell.kind === 'norm') return normed(cell.norm)
  return cell.kind === 'none' ? NONE : WAITING
}

interface Area {
  x: number
  y: number
  w: number
  h: number
}

/** Records of the trace are told by their ids. */
function byId(_: string, value: { id?: string } | null): unknown {
  return value?.id ?? value
}

function outline(paint: BoxPaint, ghost: boolean, w: number, h: number): Mark {
  const kind = paint.trouble === 'raised' || paint.trouble === 'nonfinite'
    ? 'trouble'
    : ghost && paint.progress !== 'forward'
      ? 'ghost'
      : paint.progress
  return { k: 'rect', c: `o-${kind}`, x: 0, y: 0, w, h, r: 4 }
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
