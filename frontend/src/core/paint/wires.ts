// A wire as marks: its two lanes with arrowheads, its badge, and what its labels say.

import type { Knot, LabelPlace, Wire } from '../layout/geometry'
import type { DrawnLink } from '../layout/fold'
import { extent } from '../layout/extent'
import { LANE, lanePath, lanePathUp } from '../layout/route'
import { formatShape, wireNumber } from '../words/format'
import { isGradient } from '../trace/collectives'
import type { Item, Mark } from './marks'
import {
  capsuleText, capsuleWidth, cutText, cutWidth, forwardLabel, gradientLabel, LABEL, labelText, times, type Measure,
} from './measure'
import type { LinkPaint } from './moment'
import { arrowDown, arrowUp, displayMarks, iconMark, matrixMarks, sayCell } from './small-marks'

export class WirePainter {
  constructor(private readonly measure: Measure) {}

  wire(wire: Wire, links: readonly DrawnLink[], paints: readonly LinkPaint[]): Item {
    const first = links[0]!
    const paint = together(paints)
    const box = { ...extent(wire), kind: 'wire' as const }
    const { x, y } = box
    const knots = wire.knots.map(([kx, ky]): Knot => [kx - x, ky - y])
    const lanes = first.kind === 'exchange' ? this.exchange : this.lanes
    const marks: Mark[] = [
      { k: 'path', c: 'edge-hit', d: lanePath(knots, wire.upward, 0) }, ...lanes.call(this, wire, knots, paint, first),
    ]
    // A place without a mark is left by a layout of the same graph before something in it was hidden.
    const over = wire.badge && (first.kind === 'cut' || first.broadcast?.length)
      ? { ...box, id: `${wire.id}+`, marks: this.badge(wire, first, x, y, !!paints[0]!.summed), label: '' }
      : undefined
    if (wire.forward) this.forwardText(marks, links, wire.forward, x, y, paint)
    if (wire.gradient) this.gradientText(marks, links, paints, wire.gradient, x, y)
    return { ...box, id: wire.id, marks, over, label: this.sayLink(links, paint) }
  }

  private lanes(wire: Wire, knots: readonly Knot[], paint: LinkPaint, link: DrawnLink): Mark[] {
    const alone = link.kind !== 'data'
    const side = alone ? 0 : -1
    const down = lanePath(knots, wire.upward, side)
    const [endX, endY] = knots.at(-1)!
    const [startX, startY] = knots[0]!
    const forward = alone && paint.forward !== 'waiting' ? 'ghost' : paint.forward
    const marks: Mark[] = [{ k: 'path', c: `f-${forward}`, d: wire.ends_at_box ? shorten(down, endY, 4) : down }]
    // Up to the scissors the value is still recorded.
    if (link.kind === 'cut' && wire.badge && knots.every(([x]) => x === startX))
      marks.push({ k: 'path', c: `f-${paint.forward}`, d: `M${startX} ${startY}V${wire.badge.y - extent(wire).y}` })
    if (wire.ends_at_box)
      marks.push({ k: 'path', c: `head-${forward}`, d: arrowDown(endX + side * LANE, endY) })
    if (alone || paint.gradient === 'absent') return marks
    const up = lanePathUp(knots, wire.upward, 1)
    const current = paint.gradient === 'current'
    const hasHead = wire.starts_at_box && paint.gradient !== 'waiting'
    marks.push({ k: 'path', c: `g-${paint.gradient}`, d: hasHead ? shorten(up, startY, current ? -7 : -5) : up })
    if (hasHead)
      marks.push({ k: 'path', c: current ? 'head-now' : 'head-passed', d: arrowUp(startX + LANE, startY, current) })
    return marks
  }

  /** What a rank gave to a collective goes up, what it got comes down; of gradients both as gradients. */
  private exchange(wire: Wire, knots: readonly Knot[], paint: LinkPaint, link: DrawnLink): Mark[] {
    const carries = isGradient(link, this.measure.sheet.boxes.get(link.target))
    const state = carries && paint.forward === 'done' ? 'passed' : paint.forward
    const lane = `${carries ? 'g' : 'f'}-${state}`
    const head = `head-${carries && state === 'current' ? 'now' : state}`
    const [[startX, startY], [endX, endY]] = [knots[0]!, knots.at(-1)!]
    const side = link.tensor != null && link.back != null ? 1 : 0
    const marks: Mark[] = []
    if (link.tensor != null) {
      const down = lanePath(knots, wire.upward, side && -1)
      marks.push({ k: 'path', c: lane, d: wire.ends_at_box ? shorten(down, endY, 4) : down })
      if (wire.ends_at_box) marks.push({ k: 'path', c: head, d: arrowDown(endX - side * LANE, endY) })
    }
    if (link.back != null) {
      const up = lanePathUp(knots, wire.upward, side)
      marks.push({ k: 'path', c: lane, d: wire.starts_at_box ? shorten(up, startY, -5) : up })
      if (wire.starts_at_box) marks.push({ k: 'path', c: head, d: arrowUp(startX + side * LANE, startY, false) })
    }
    return marks
  }

  private badge(wire: Wire, link: DrawnLink, ox: number, oy: number, summed: boolean): Mark[] {
    const { bar, side, lift, text: room } = wire.badge!
    const [x, y] = [wire.badge!.x - ox, wire.badge!.y - oy]
    if (link.kind === 'cut') {
      const calm = this.measure.story.isFound(link) ? '' : '-calm'
      const marks: Mark[] = []
      if (bar > 0) marks.push({ k: 'path', c: `bar${calm}`, d: `M${x - bar} ${y}H${x - 18}M${x + 18} ${y}H${x + bar}` })
      marks.push(
        { k: 'rect', c: `scissors${calm}`, x: x - 13, y: y - 13, w: 26, h: 26, r: 13 },
        iconMark(calm ? 'icon-ghost' : 'icon-err', 'cut', x - 7, y - 7, 14),
      )
      const said = cutText(link, this.measure)
      const rows = [said, said.slice(0, 1)].find((some) => cutWidth(some) <= room) ?? []
      rows.forEach((row, at) =>
        marks.push({
          k: 'text', c: at > 0 ? 'cut-line' : calm ? 'cut-calm' : 'cut-title', x: x + side * (bar + 8),
          y: y + lift + (rows.length === 1 ? 4 : -4 + at * 16), s: row, a: side > 0 ? undefined : 'end',
        }),
      )
      return marks
    }
    const text = capsuleText(link, this.measure, summed)
    const w = capsuleWidth(text)
    const look = summed ? 'capsule' : 'capsule-waiting'
    return [
      { k: 'rect', c: look, x: x - w / 2, y: y - 8, w, h: 16, r: 8 },
      { k: 'text', c: `${look}-text`, x, y: y + 3.5, s: text, a: 'middle' },
    ]
  }

  private forwardText(
    marks: Mark[], links: readonly DrawnLink[], place: LabelPlace, ox: number, oy: number, paint: LinkPaint,
  ): void {
    if (place.variant < 0) {
      marks.push({
        k: 'rect', c: 'head-waiting', x: place.x - ox, y: place.y - oy, w: place.w, h: place.h, r: place.w / 2,
      })
      return
    }
    const [link] = links as [DrawnLink]
    const rows = areMany(links) ? [manyText(links)] : forwardLabel(link, this.measure, place.variant === 0)
    rows.forEach((row, at) => {
      const isSlot = at > 0 || (row === link.label && link.label !== '')
      marks.push({
        k: 'text', c: isSlot ? 'slot' : paint.forward === 'waiting' ? 'slot' : 'shape', x: place.x + place.w - ox,
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
    if (links.length > 1 && links[0]!.kind !== 'exchange') {
      const sum = this.sumOf(links, paints)
      if (sum !== null) marks.push({ k: 'text', c: 'label-g', x, y: y + 10.5, s: sum })
      return
    }
    const { cell, density } = this.measure
    const shown = gradientLabel(arrived[0]!.value!, place.variant === 0 && density === 'lesson' ? cell : 0)
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
      const add = (at: number) => tensors.reduce((sum, tensor) => sum + wireNumber(tensor.data![at]!), 0)
      const sums = tensors[0]!.data!.map((_, at) => add(at))
      return labelText({ ...tensors[0]!, data: sums, summary: null })
    }
    const { story } = this.measure
    const whole = links.length === story.linksOut(links[0]!.source).filter((link) => link.kind === 'data').length
    const [entering] = whole ? story.gradientsEntering(links[0]!.source).slice(-1) : []
    return entering ? labelText(entering) : null
  }

  /** A wire for those who hear it: what goes down it, what cuts it, what has come back up. */
  private sayLink(links: readonly DrawnLink[], paint: LinkPaint): string {
    const [link] = links as [DrawnLink]
    const { sheet, words } = this.measure
    const name = (id: string) => sheet.boxes.get(id)?.name || sheet.boxes.get(id)?.title || id
    const named = (ids: readonly string[]) => [...new Set([ids[0]!, ids.at(-1)!].map(name))].join(' … ')
    const [source, target] = [named(links.map((each) => each.source)), named(links.map((each) => each.target))]
    if (areMany(links)) return words('graph.edge', { value: manyText(links), source, target })
    const said = [words('graph.edge', { value: forwardLabel(link, this.measure, true).join(' '), source, target })]
    if (link.kind === 'cut') said.push(...cutText(link, this.measure))
    if (paint.value) {
      const value = sayCell({ kind: 'tensor', tensor: paint.value })
      const shaped = paint.value.shape.length > 0 ? `${formatShape(paint.value.shape)} ${value}` : value
      said.push(words('graph.edge_gradient', { value: shaped, source: target, target: source }))
    }
    return said.join(' · ').replace(/ {2,}/g, ' ')
  }
}

/** Whether a wire carries many tensors, of which it says only how many they are. */
function areMany(links: readonly DrawnLink[]): boolean {
  return links[0]!.kind === 'data' && links.some(({ tensor }) => tensor !== links[0]!.tensor)
}

function manyText(links: readonly DrawnLink[]): string {
  return times(new Set(links.map(({ tensor }) => tensor)).size)
}

/** The lane stops inside its arrowhead. */
function shorten(d: string, y: number, by: number): string {
  return d.replace(/([ V])(-?[\d.]+)$/, (all, before: string, last: string) =>
    Number(last) === y ? `${before}${y - by}` : all)
}

function together(paints: readonly LinkPaint[]): LinkPaint {
  const first = paints[0]!
  const gradient = (['current', 'passed'] as const).find((state) => paints.some((paint) => paint.gradient === state))
  const forward = (['current', 'done'] as const).find((state) => paints.some((paint) => paint.forward === state))
  const value = paints.find((paint) => paint.value)?.value ?? null
  return { forward: forward ?? 'waiting', gradient: gradient ?? first.gradient, value }
}
