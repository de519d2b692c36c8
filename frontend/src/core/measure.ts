// How much room each box, group and label needs over the whole run, so that nothing moves while stepping.

import type { Box, Group, Tensor } from '../api/types'
import { brief, display, normOf, type Display, MATRIX_ROW } from './display'
import { childrenOf, type DrawnLink, type Sheet, type Stub } from './fold'
import { formatCount, formatNumber, formatShape, textWidth } from './format'
import type { LayoutGroup, LayoutInput, LayoutItem, LayoutLink, Size } from './layout'
import type { Story, Strip } from './moment'
import { promotionText } from './promotion'
import type { Values } from './words'

export const TITLE = 11.5
export const NAME = 11.5
export const ASIDE = 10.5
export const LABEL = 10.5
export const LABEL_ROW = 14
export const HEAD = 23
export const STRIP = 19
const STRIP_SIZE = 11
const TAIL = 30
export const STUB = { height: 20, gap: 26 }
const MARGIN_SIDE = 46
const NARROWEST = 140
const WIDEST = 380
/** Names longer than this are cut; the whole name is in the tooltip. */
const LONGEST_NAME = 132
const COLUMN = 252

export interface Head {
  title: string
  /** Beside the title: what kind of thing it is. */
  aside: string
  /** Right-aligned. */
  right: string
}

export type Density = 'lesson' | 'model'

/** Looks up a sentence. */
export type Say = (key: string, values?: Values) => string

/** Where the graph is shown: embeds, and all but chains on phones, have short titles and no step numbers. */
export type Room = 'page' | 'embed' | 'phone'

/** What a view is measured for. */
export interface Measure {
  story: Story
  sheet: Sheet
  words: Say
  embedded: boolean
  density: Density
  /** Step numbers stand beside the boxes. */
  margins: boolean
  /** Least width of a box. */
  narrowest: number
}

/** Chooses density, margins and the least width from the graph's own shape. */
export function measureFor(story: Story, sheet: Sheet, words: Say, room: Room): Measure {
  const embedded = room === 'embed' || (room === 'phone' && !isChain(sheet))
  const boxes = [...sheet.boxes.values()]
  const few = boxes.length <= 30 && [...sheet.groups.values()].every((group) => group.kind === 'layer')
  const isModel = !few || boxes.some((box) => hasPicture(story, box.id))
  const narrowest = embedded || isModel ? NARROWEST : isChain(sheet) ? COLUMN : 180
  return { story, sheet, words, embedded, density: isModel ? 'model' : 'lesson', margins: few && !embedded, narrowest }
}

function hasPicture(story: Story, id: string): boolean {
  return story.contents(id).values.some((tensor) => display(tensor).kind === 'thumb')
}

/** Whether most boxes stand one under the other. */
function isChain(sheet: Sheet): boolean {
  const consumers = new Map<string, Set<string>>()
  for (const link of sheet.links) consumers.set(link.source, (consumers.get(link.source) ?? new Set()).add(link.target))
  return sheet.boxes.size <= 16 && [...consumers.values()].every((targets) => targets.size <= 1) && sheet.boxes.size - consumers.size <= 1
}

export function headOf(box: Box, measure: Measure): Head {
  if (box.kind === 'leaf') return { title: box.name || box.title, aside: '', right: measure.words(box.family === 'param' ? 'graph.parameter' : 'graph.leaf') }
  const unused = box.reason === 'unused' ? (box.parameters ?? []) : null
  if (unused?.length === 0) return { title: box.name || box.title, aside: '', right: measure.words(box.family === 'param' ? 'graph.parameter' : 'graph.leaf') }
  if (unused) return { title: box.name || measure.words('graph.unused', { n: unused.length }), aside: box.name ? box.title : '', right: unused.length > 2 ? '' : parametersOf(box, measure) }
  const title = measure.embedded ? box.title.replace(/Backward\d*$/, '') || box.title : box.title
  const parameters = parametersOf(box, measure)
  const module = measure.sheet.moduleOf.get(box.id)
  const aside = module ? [module.title, module.type].filter(Boolean).join(' ') : promotionOf(box, measure) || reasonOf(box, measure)
  return parameters ? { title, aside: aside || box.name, right: parameters } : { title, aside, right: box.name }
}

/** What its operands' dtypes were brought to. */
function promotionOf(box: Box, { story, embedded }: Measure): string {
  const op = story.index.op(box.op)
  return op?.promotion && !embedded ? promotionText(op) : ''
}

/** Why a ghost was not recorded, where its title does not say so. */
function reasonOf(box: Box, measure: Measure): string {
  if (box.kind !== 'ghost' || measure.embedded) return ''
  return box.reason === 'no_grad' || box.reason === 'integer' ? measure.words(`graph.reason.${box.reason}`) : ''
}

export function headOfGroup(group: Group, measure: Measure): Head {
  const pass = group.kind === 'layer' ? measure.story.index.passes.get(group.pass ?? '') : undefined
  if (pass) return { title: measure.words('graph.layer', { call: pass.kind === 'grad' ? 'grad()' : 'backward()', n: pass.id.slice(1) }), aside: '', right: '' }
  const count = group.repeat && group.repeat > 1 ? measure.words('graph.times', { n: group.repeat }) : measure.words('graph.nodes', { n: group.size ?? 0 })
  return { title: group.title, aside: [group.type, count].filter(Boolean).join(' · '), right: group.parameters ? formatCount(group.parameters) : '' }
}

function parametersOf(box: Box, { story }: Measure): string {
  const shapes = (box.parameters ?? []).map((parameter) => {
    const tensor = story.index.tensor(parameter.tensor)
    return tensor ? formatShape(tensor.shape) : parameter.name
  })
  return shapes.join(' · ')
}

export function isShared(box: Box): boolean {
  return (box.parameters ?? []).some((parameter) => (parameter.shared ?? 1) > 1)
}

/** `2.25 + 2.25 → 4.5`; more than three terms are counted. */
export function stripText(strip: Strip, words: Say): string {
  if (strip.kind === 'error' || strip.terms.length === 0) return ''
  const said = strip.terms.map((term, at) => (term ? brief(term) : at === 0 && strip.before ? 'None' : '·'))
  const short = said.length > 3 ? [...said.slice(0, 2), words('graph.more', { n: said.length - 2 })] : said
  const result = strip.done ? (strip.result ? brief(strip.result) : 'None') : '·'
  return `${short.join(' + ')} → ${result}`
}

export function stripLabel(strip: Strip): string {
  if (strip.kind === 'sum') return 'Σ'
  if (strip.kind === 'hook') return 'hook'
  if (strip.kind === 'error') return ''
  return strip.done ? '.grad' : 'AccumulateGrad'
}

/** Sizes of everything on one view, ready to lay out. */
export function layoutInput(measure: Measure, expanded: ReadonlySet<string>): LayoutInput {
  const { sheet } = measure
  const boxes = [...sheet.boxes.values()].map((box) => boxItem(box, measure))
  const groups = orderedGroups(sheet).map((group) => groupItem(group, measure))
  const links = sheet.links.map((link) => layoutLink(link, measure))
  return { boxes, groups, links, expanded: [...expanded].sort(), gap: measure.density === 'model' ? 28 : 36 }
}

function orderedGroups(sheet: Sheet): Group[] {
  const ordered: Group[] = []
  const pending = ['']
  while (pending.length > 0) {
    for (const child of childrenOf(sheet, pending.pop()!)) {
      const group = sheet.groups.get(child)
      if (!group) continue
      ordered.push(group)
      pending.push(child)
    }
  }
  return ordered
}

function boxItem(box: Box, measure: Measure): LayoutItem {
  const { story, sheet } = measure
  const { values, gradients, strips, hasGrad } = story.contents(box.id)
  const shown = [...values.map(display), ...gradients.map(display)]
  const strip = hasStrip(strips, hasGrad) ? STRIP : 0
  const widestCell = Math.max(30, ...values.map((tensor) => display(tensor).width), ...gradients.map((tensor) => display(tensor).width + (hasGrad ? 34 : 0)), hasGrad ? 78 : 0)
  const widestStrip = Math.max(0, ...strips.map((entry) => 44 + textWidth(stripLabel(entry), ASIDE) + textWidth(stripText(entry, measure.words), STRIP_SIZE)))
  const head = headWidth(headOf(box, measure))
  const w = upTo4(Math.max(measure.narrowest, Math.min(WIDEST, Math.max(head, widestStrip)), 2 * (widestCell + 20)))
  const h = HEAD + bodyHeight(shown) + strip
  return { id: box.id, parent: sheet.parents.get(box.id) ?? '', w, h, side: sideOf(box.id, measure), tail: story.hasSeed(box.id) ? TAIL : 0 }
}

function hasStrip(strips: readonly Strip[], hasGrad: boolean): boolean {
  return hasGrad || strips.length > 0
}

/** Whether a box keeps room for its strip at every step. */
export function keepsStrip(box: Box, { story }: Measure): boolean {
  const { strips, hasGrad } = story.contents(box.id)
  return hasStrip(strips, hasGrad)
}

function bodyHeight(shown: readonly Display[]): number {
  const tallest = Math.max(0, ...shown.map((entry) => entry.height))
  if (tallest <= 16 && !shown.some((entry) => entry.kind === 'matrix')) return 30
  return tallest <= 24 ? 36 : tallest + MATRIX_ROW
}

function headWidth(head: Head): number {
  const aside = head.aside ? 8 + textWidth(head.aside, ASIDE) : 0
  return 33 + textWidth(head.title, TITLE) + aside + (head.right ? 16 + Math.min(LONGEST_NAME, textWidth(head.right, NAME)) : 0)
}

function groupItem(group: Group, measure: Measure): LayoutGroup {
  const { story, sheet } = measure
  const value = story.index.tensor(group.tensor)
  const shown = [...(value ? [value] : []), ...story.gradientsAt(group.node)].map(display)
  const head = headOfGroup(group, measure)
  const widest = Math.max(30, ...shown.map((entry) => entry.width))
  const w = upTo4(Math.max(NARROWEST, Math.min(WIDEST, headWidth(head)), 2 * (widest + 20)))
  const header = 26 + textWidth(head.title, TITLE) + 8 + textWidth(head.aside, ASIDE) + (head.right ? 16 + textWidth(head.right, ASIDE) : 0)
  return { id: group.id, parent: sheet.parents.get(group.id) ?? '', w, h: HEAD + bodyHeight(shown), side: 8, tail: 6, header: Math.ceil(header) }
}

export function stubWidth(stub: Stub): number {
  return Math.max(24, Math.ceil(textWidth(stub.text, LABEL)) + 12)
}

/** Whether stubs say what they are. */
export function captioned(measure: Measure): boolean {
  return measure.density === 'lesson' && !measure.embedded
}

function sideOf(id: string, measure: Measure): number {
  const stubs = measure.sheet.stubs.get(id) ?? []
  const widest = Math.max(0, ...stubs.map(stubWidth))
  const caption = captioned(measure) ? textWidth(measure.words('graph.constant'), LABEL) + 6 : 0
  return Math.max(measure.margins ? MARGIN_SIDE : 6, widest > 0 ? STUB.gap + widest + caption : 0)
}

/** Shape, then the slot's name under it. */
export function forwardLabel(link: DrawnLink, measure: Measure, withSlot: boolean): string[] {
  const tensor = measure.story.index.tensor(link.tensor)
  const shape = !tensor ? '' : tensor.shape.length === 0 ? (measure.density === 'lesson' && !measure.embedded ? measure.words('graph.scalar') : '') : formatShape(tensor.shape)
  return [shape, withSlot && !measure.embedded ? (link.label ?? '') : ''].filter((row) => row !== '')
}

/** A gradient beside its lane: in full when it is small, else one number. */
export function gradientLabel(tensor: Tensor, inFull: boolean): Display {
  const full = display(tensor)
  if (inFull && full.kind !== 'thumb') return full
  return shortLabel(tensor)
}

function shortLabel(tensor: Tensor): Display {
  const full = display(tensor)
  if (full.kind === 'number' || full.kind === 'word') return full
  const text = full.kind === 'thumb' ? full.trouble || formatNumber(Number(normOf(tensor).toPrecision(3))) : brief(tensor)
  return { kind: 'number', text, width: textWidth(text, LABEL), height: LABEL_ROW }
}

function labelSize(shown: Display): Size {
  const scale = LABEL / 11
  if (shown.kind === 'matrix') return { w: shown.width * scale, h: shown.rows.length * LABEL_ROW + 2 }
  if (shown.kind === 'word') return { w: shown.width, h: 18 }
  return { w: shown.kind === 'number' ? textWidth(shown.text, LABEL) : 40, h: LABEL_ROW }
}

function layoutLink(link: DrawnLink, measure: Measure): LayoutLink {
  const gradients = link.kind === 'data' ? measure.story.gradientsOn(link) : []
  const full = gradients.map((tensor) => labelSize(gradientLabel(tensor, measure.density === 'lesson')))
  const short = gradients.map((tensor) => labelSize(gradientLabel(tensor, false)))
  return {
    id: link.id,
    source: link.source,
    target: link.target,
    value: `${link.tensor ?? link.source}/${link.kind}`,
    forward: forwardSizes(link, measure),
    gradient: full.length > 0 ? [largest(full), largest(short)] : [],
    badge: badgeSize(link, measure),
  }
}

function forwardSizes(link: DrawnLink, measure: Measure): Size[] {
  const size = (rows: readonly string[]): Size => ({ w: Math.max(...rows.map((row) => textWidth(row, LABEL))), h: rows.length * 13 + 1 })
  const withSlot = forwardLabel(link, measure, true)
  const bare = forwardLabel(link, measure, false)
  return [withSlot, bare].filter((rows) => rows.length > 0).map(size)
}

/** Scissors with their cause, or the capsule of a sum over broadcast axes. */
function badgeSize(link: DrawnLink, measure: Measure): LayoutLink['badge'] {
  if (link.kind === 'cut') return { w: 140, h: 28, text: 8 + Math.ceil(Math.max(...cutText(link, measure).map((row) => textWidth(row, 11.5)))) }
  if (link.broadcast && link.broadcast.length > 0) return { w: capsuleWidth(capsuleText(link, measure)), h: 16, text: 0 }
  return null
}

const CAUSES: Readonly<Record<string, string>> = { no_grad: 'no_grad', data: '.data', tensor: 'torch.tensor()' }

export function cutText(link: DrawnLink, { words }: Measure): string[] {
  const cause = CAUSES[link.reason ?? ''] ?? `${link.reason || 'detach'}()`
  const line = link.span?.line
  return [words('graph.cut', { reason: cause }), ...(line ? [words('graph.cut_line', { line })] : [])]
}

const SUBSCRIPTS = '₀₁₂₃₄₅₆₇₈₉'

/** The axes summed over, and the gradient's shape before and after: `Σ₀ 4×3 → 3`. */
export function capsuleText(link: DrawnLink, { story, sheet }: Measure): string {
  const axes = link.broadcast ?? []
  const sum = `Σ${axes.map((axis) => [...String(axis)].map((digit) => SUBSCRIPTS[Number(digit)] ?? digit).join('')).join('')}`
  const before = story.index.tensor(sheet.boxes.get(link.target)?.tensor)?.shape
  const after = story.index.tensor(link.tensor)?.shape
  return before && after && stretches(after, before, axes) ? `${sum} ${formatShape(before)} → ${formatShape(after)}` : sum
}

export function capsuleWidth(text: string): number {
  return Math.ceil(textWidth(text, 10)) + 16
}

/** Whether broadcasting one shape along these axes, and no others, makes the other. */
function stretches(from: readonly number[], to: readonly number[], axes: readonly number[]): boolean {
  const missing = to.length - from.length
  return missing >= 0 && to.every((size, axis) => (axes.includes(axis) ? axis < missing || from[axis - missing] === 1 : from[axis - missing] === size))
}

function largest(sizes: readonly Size[]): Size {
  return { w: Math.max(...sizes.map((size) => size.w)), h: Math.max(...sizes.map((size) => size.h)) }
}

function upTo4(value: number): number {
  return Math.ceil(value / 4) * 4
}
