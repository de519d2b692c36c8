// How much room everything on a view needs over the whole run, so that nothing moves while stepping: what a layout is
// made from.

import type { Box, Group, Tensor } from '../../api/types'
import { MATRIX_ROW, normed, type Display } from '../words/display'
import { exchangesOf } from '../trace/collectives'
import { childrenOf, isOfLeaves, standIn, type DrawnLink } from '../layout/fold'
import { textWidth } from '../words/format'
import type { LayoutGroup, LayoutInput, LayoutItem, LayoutLink, Size } from '../layout/geometry'
import { push } from '../trace/trace-index'
import {
  ARROW, ASIDE, capsuleText, capsuleWidth, CAPTION, cellOf, COLUMN, cutText, cutWidth, exchangedText, forwardLabel,
  gradientLabel, gradientTag, HEAD, headOf, headOfGroup, keepsStrip, LABEL, LABEL_ROW, NAME, NARROWEST, STRIP,
  STRIP_TEXT, stripLabel, stripText, stubsWidth, TAIL, times, TITLE, valueTag, type Head, type Measure,
} from './measure'
import { openingChoice } from '../layout/opening'

/** As wide as gradients that are added make a box. */
const MOST_STRIP = 320
/** A ghost has one cell, so it may be narrower. */
const GHOST = 112
const LEAST_SIDE = 6
/** What the last constant is takes a row under it. */
const CAPTIONED = 12
const STUB_ROW = 24
const WIDEST = 340
const LONGEST_NORM = normed(-1.234e-10)
/** Names longer than this are cut; the whole name is in the tooltip. */
const LONGEST_NAME = 168

/** Sizes of everything that is drawn while these groups are open, ready to lay out; without a choice of groups as it
 *  opens. What a folded group hides is not measured. */
export function layoutInput(measure: Measure, expanded: ReadonlySet<string> | null): LayoutInput {
  const { sheet } = measure
  const open = expanded ?? openingChoice(sheet)
  const boxes: LayoutItem[] = []
  const groups: LayoutGroup[] = []
  const gather = (parent: string): void => {
    for (const id of childrenOf(sheet, parent)) {
      const [box, group] = [sheet.boxes.get(id), sheet.groups.get(id)]
      if (box) boxes.push(boxItem(box, measure))
      if (!group) continue
      const item = groupItem(group, measure)
      groups.push(item)
      if (open.has(id)) gather(id)
      else boxes.push(item)
    }
  }
  gather('')
  const links = sheet.links.flatMap((link) => {
    const [source, target] = [standIn(sheet, link.source, open), standIn(sheet, link.target, open)]
    return source === target ? [] : [{ ...layoutLink(link, measure), source, target }]
  })
  return {
    boxes, groups, links: bundled(links, sheet), expanded: [...open].sort(),
    gap: measure.spacious?.gap ?? (measure.density === 'model' ? 28 : 36), beside: measure.margins || LEAST_SIDE,
  }
}

/** More links than this between a folded group and one box are drawn as one wire that says how many they are: the
 *  losses of all turns of a loop into their sum. Of leaves shown as one, that is more than one. */
const MOST_BESIDE = 4

function bundled(links: readonly LayoutLink[], sheet: Measure['sheet']): LayoutLink[] {
  const { groups } = sheet
  const pairs = new Map<string, LayoutLink[]>()
  for (const link of links)
    if (link.value.endsWith('/data') && (groups.has(link.source) || groups.has(link.target)))
      push(pairs, `${link.source}>${link.target}`, link)
  const areLeaves = (id: string) => groups.has(id) && isOfLeaves(sheet, id)
  const wide = [...pairs].filter(([, beside]) => {
    const most = areLeaves(beside[0]!.source) ? 1 : MOST_BESIDE
    return new Set(beside.map(({ value }) => value)).size > most
  })
  const sums = new Map(wide.flatMap(([pair, beside]) => {
    const forward = [{ w: textWidth(times(beside.length), LABEL), h: LABEL_ROW }]
    const { source } = beside[0]!
    // to all turns of a loop leaves lead as one wire, which branches there
    const value = areLeaves(source) ? `${source}>` : pair
    return beside.map((link) => [link, { ...link, value, forward, gradient: [], badge: null, bundled: true }] as const)
  }))
  return links.map((link) => sums.get(link) ?? link)
}

const COLLECTIVE_PAD = 12

/** A collective has a column for each rank. */
function collectiveSize(box: Box, measure: Measure, head: number): Size {
  const exchanges = exchangesOf(measure.story.index, box)
  const columns = exchanges.map(({ gave, got }) => [exchangedText(gave), exchangedText(got)] as const)
  const widths = columns.map(([gave, got]) => Math.max(textWidth('rank 0', ASIDE), gave.width + ARROW + got.width))
  const tallest = Math.max(16, ...columns.flat().map(({ height }) => height))
  return {
    w: Math.max(head, columns.length * (Math.max(0, ...widths) + 2 * COLLECTIVE_PAD)), h: HEAD + CAPTION + tallest + 12,
  }
}

function boxItem(box: Box, measure: Measure): LayoutItem {
  const { story, sheet } = measure
  if (box.kind === 'collective')
    return {
      ...collectiveSize(box, measure, headWidth(headOf(box, measure))), id: box.id, across: true,
      parent: sheet.parents.get(box.id) ?? '', side: sideOf(box.id, measure), tail: 0,
    }
  const { values, gradients, strips, hasGrad } = story.contents(box.id)
  const strip = keepsStrip(box, measure) ? STRIP : 0
  const returned = story.isEverReturned(box.id) ? 33 + textWidth(measure.words('graph.returned'), ASIDE) : 0
  const head = headWidth(headOf(box, measure, values.length > 1))
  const ghost = box.kind === 'ghost'
  const widest = measure.spacious?.widest ?? WIDEST
  const half = ghost ? 1 : 2
  let w = Math.max(
    ghost && measure.narrowest < COLUMN ? GHOST : measure.narrowest, Math.min(widest, Math.max(head, returned)),
    hasGrad ? 196 : 0,
  )
  const cell = (tensor: Tensor | undefined, tag: string) => cellOf(tensor, tag, measure, w / half - 20)
  const cells = () => [
    ...(values[0] ? values : [undefined]).map((tensor) => cell(tensor, valueTag(box, measure))),
    ...gradients.map((tensor) => cell(tensor, gradientTag(box, measure))),
  ]
  w = Math.max(w, half * (Math.max(30, ...cells().map(({ width }) => width)) + 20))
  for (const entry of strips) {
    const beside = 44 + textWidth(stripLabel(entry, measure), ASIDE)
    const most = entry.kind === 'error' ? widest : Math.min(widest, MOST_STRIP)
    const said = textWidth(stripText(entry, measure.words, Math.max(w, most) - beside), STRIP_TEXT)
    w = Math.max(w, Math.min(widest, beside + said))
  }
  w = upTo4(w)
  const { length } = sheet.stubs.get(box.id) ?? []
  // the arrow of the lowest stub ends at the box
  const h = HEAD + Math.max(bodyHeight(cells().map(({ shown }) => shown)), length * STUB_ROW - 18) + strip
  const beside = stubsWidth(box.id, measure)
  return {
    id: box.id, parent: sheet.parents.get(box.id) ?? '', w, h, side: sideOf(box.id, measure),
    tail: story.hasSeed(box.id) ? TAIL : 0,
    stubs: { x: -beside, y: (HEAD + h - strip - length * STUB_ROW) / 2, w: beside, h: length * STUB_ROW + CAPTIONED },
  }
}

function bodyHeight(shown: readonly Display[]): number {
  const tallest = Math.max(0, ...shown.map((entry) => entry.height))
  if (tallest <= 16 && !shown.some((entry) => entry.kind === 'matrix')) return 30
  return tallest <= 24 ? 36 : tallest + MATRIX_ROW
}

function headWidth(head: Head): number {
  const aside = head.aside ? 8 + textWidth(head.aside, ASIDE) : 0
  return (
    33 +
    textWidth(head.title, TITLE) +
    aside +
    (head.right ? 16 + Math.min(LONGEST_NAME, textWidth(head.right, NAME)) : 0)
  )
}

function groupItem(group: Group, measure: Measure): LayoutGroup {
  const { story, sheet } = measure
  const value = story.index.tensor(group.tensor)
  const shown = isOfLeaves(sheet, group.id)
    ? [LONGEST_NORM]
    : [...(value ?? story.group(group.id).last ? [value] : []), ...story.gradientsAt(group.node)]
        .map((tensor) => cellOf(tensor, '', measure).shown)
  const head = headOfGroup(group, measure)
  const widest = Math.max(30, ...shown.map((entry) => entry.width))
  const w = upTo4(Math.max(NARROWEST, Math.min(WIDEST, headWidth(head)), 2 * (widest + 20)))
  return {
    id: group.id, parent: sheet.parents.get(group.id) ?? '', w, h: HEAD + bodyHeight(shown), side: 8,
    tail: story.rootIn(group.id) === null ? 6 : TAIL,
    header: Math.ceil(headWidth(head)),
    title: Math.ceil(19 + textWidth(head.title, TITLE)),
  }
}

function sideOf(id: string, measure: Measure): number {
  return Math.max(measure.margins || LEAST_SIDE, stubsWidth(id, measure))
}

function layoutLink(link: DrawnLink, measure: Measure): Omit<LayoutLink, 'source' | 'target'> {
  const gradients = link.kind === 'data' || link.kind === 'exchange' ? measure.story.gradientsOn(link) : []
  const room = measure.density === 'lesson' ? measure.cell : 0
  const full = gradients.map((tensor) => labelSize(gradientLabel(tensor, room)))
  const short = gradients.map((tensor) => labelSize(gradientLabel(tensor, 0)))
  return {
    id: link.id,
    value: `${link.tensor ?? link.back ?? link.source}/${link.kind}`,
    forward: forwardSizes(link, measure),
    gradient: full.length > 0 ? [largest(full), largest(short)] : [],
    badge: badgeSize(link, measure),
  }
}

function forwardSizes(link: DrawnLink, measure: Measure): Size[] {
  const size = (rows: readonly string[]): Size => ({
    w: Math.max(...rows.map((row) => textWidth(row, LABEL))), h: rows.length * 13 + 1,
  })
  const withSlot = forwardLabel(link, measure, true)
  const bare = forwardLabel(link, measure, false)
  return [withSlot, bare].filter((rows) => rows.length > 0).map(size)
}

function labelSize(shown: Display): Size {
  const scale = LABEL / 11
  if (shown.kind === 'matrix') return { w: shown.width * scale, h: shown.rows.length * LABEL_ROW + 2 }
  if (shown.kind === 'word') return { w: shown.width, h: 18 }
  return { w: shown.kind === 'number' ? textWidth(shown.text, LABEL) : 40, h: LABEL_ROW }
}

/** Scissors with their cause, or the capsule of a sum over broadcast axes. */
function badgeSize(link: DrawnLink, measure: Measure): LayoutLink['badge'] {
  if (link.kind === 'cut') {
    const rows = cutText(link, measure)
    return { w: 88, h: 28, text: rows.map((_, at) => cutWidth(rows.slice(0, rows.length - at))) }
  }
  if (link.broadcast && link.broadcast.length > 0)
    return { w: capsuleWidth(capsuleText(link, measure)), h: 16, text: [] }
  return null
}

function largest(sizes: readonly Size[]): Size {
  return { w: Math.max(...sizes.map((size) => size.w)), h: Math.max(...sizes.map((size) => size.h)) }
}

function upTo4(value: number): number {
  return Math.ceil(value / 4) * 4
}
