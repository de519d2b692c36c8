// What stands on boxes, groups and links, how wide it is, and what a view is measured for.

import type { Box, Caught, Group, Tensor, Trace } from '../../api/types'
import {
  brief, briefs, display, displayIn, inDigits, WAITING, word, type Display,
} from '../words/display'
import { groupTitle, isOfLeaves, isSmall, type DrawnLink, type Sheet, type Stub } from '../layout/fold'
import { cutEnd, formatCount, formatShape, plus, textWidth } from '../words/format'
import { exchangesOf } from '../trace/collectives'
import { isOwnName } from '../trace/own-name'
import type { BoxPaint, Moment, Story } from './moment'
import type { Strip } from './strips'
import type { Mark } from './marks'
import type { Values } from '../words/bundled'

export const TITLE = 11.5
export const NAME = 11.5
/** No text of a graph is smaller. */
export const SMALLEST = 11
export const ASIDE = 11.5
/** What of several things a cell holds. */
export const TAG = 11
export const LABEL = 11.5
export const LABEL_ROW = 14
export const HEAD = 23
export const STRIP = 19
export const STRIP_TEXT = 11
/** Under a box where a pass starts. */
export const TAIL = 26
/** Among thumbnails and where there is little room stubs stand nearer. Long names are cut. */
export const STUB = { height: 20, gap: 26, widest: { lesson: 160, model: 88 } }
export const NARROWEST = 140
/** Beside a step number stands the mark of its direction. */
const MARK = 22
const DIGIT = 7
const NARROWEST_LESSON = 116
/** Two of them, with a tag, make a box that a phone shows whole. */
const CELL = 140
/** Boxes that stand one under the other are all as wide as this. */
export const COLUMN = 252

export interface Head {
  title: string
  /** Beside the title: what kind of thing it is. */
  aside: string
  /** Right-aligned. */
  right: string
}

/** The step numbers in the margins of a box; 0 for none. */
export interface StepNumbers {
  forward: number
  /** Its latest visit, or else its first. */
  backward: number
  reached: boolean
  /** The step on show, where it is one of this box. */
  now: number
  /** What it tells of stands in the strip. */
  inStrip: boolean
}

type Density = 'lesson' | 'model'

/** Looks up a sentence. */
export type Say = (key: string, values?: Values) => string

/** What is shown only where there is room for it: besides these, full titles and the names of slots. */
export interface Spacious {
  /** Least width of a box in a small graph without groups. */
  narrowest(sheet: Sheet): number
  /** As wide as names make a box at most; what else stands in it may make it wider. */
  widest: number
  /** As wide as numbers in a cell are at most. */
  cell: number
  /** Between boxes that stand one under the other; by default by the graph's density. */
  gap?: number
  /** What stands beside the title of a box. */
  aside(box: Box, measure: Measure): string
  steps(id: string, moment: Moment, measure: Measure): StepNumbers
  /** Them beside the box, `top` where its stubs begin; null where there is no room for them. */
  margins: ((
    paint: BoxPaint, steps: StepNumbers, size: { w: number; h: number; strip: number; top: number }, measure: Measure,
  ) => Mark[]) | null
  /** What a stub is. */
  caption(stub: Stub, x: number, y: number, w: number, measure: Measure): Mark
}

/** Where a graph is shown; pages are in core/paint/annotations. */
export type Room = (sheet: Sheet) => Spacious | null

export const EMBED: Room = () => null

/** What a view is measured for. */
export interface Measure {
  story: Story
  sheet: Sheet
  words: Say
  spacious: Spacious | null
  density: Density
  /** Constants and scalars say that they are; beside layers there is no room for it. */
  captions: boolean
  /** Width of the step numbers that stand beside the boxes; 0 for none. */
  margins: number
  /** Least width of a box. */
  narrowest: number
  /** As wide as numbers in a cell are at most. */
  cell: number
}

/** Chooses density, margins and the least width from the graph's own shape. */
export function measureFor(story: Story, sheet: Sheet, words: Say, room: Room): Measure {
  const spacious = room(sheet)
  const boxes = [...sheet.boxes.values()]
  const few = isSmall(boxes.length, [...sheet.groups.values()])
  const isModel = !few || boxes.some((box) => hasPicture(story, box.id))
  const isLesson = !isModel && sheet.groups.size === 0
  const narrowest = isLesson ? (spacious?.narrowest(sheet) ?? NARROWEST_LESSON) : NARROWEST
  return {
    story, sheet, words, spacious, density: isModel ? 'model' : 'lesson',
    captions: !!spacious && isLesson,
    margins: few && spacious?.margins ? MARK + DIGIT * `${story.index.trace.timeline.length}`.length : 0, narrowest,
    cell: spacious?.cell ?? CELL,
  }
}

function hasPicture(story: Story, id: string): boolean {
  return story.contents(id).values.some((tensor) => display(tensor).kind === 'thumb')
}

/** `updated`: of a leaf that holds another value than the ops drawn took. */
export function headOf(box: Box, measure: Measure, updated = false): Head {
  if (box.kind === 'collective') {
    const source = exchangesOf(measure.story.index, box).find(({ gave }) => gave.length > 0)
    const told = { rank: `${source?.op.rank}`, n: source?.gave.length ?? 0 }
    return { title: box.title, aside: box.name && measure.words(`collective.${box.name}`, told), right: '' }
  }
  const unused = box.reason === 'unused' ? (box.parameters ?? []) : null
  if (box.kind === 'leaf' || unused?.length === 0)
    return {
      title: box.name || box.title, aside: '',
      right: measure.words(updated ? 'graph.updated' : box.family === 'param' ? 'graph.parameter' : 'graph.leaf'),
    }
  if (unused)
    return {
      title: box.name || measure.words('graph.unused', { n: unused.length }), aside: box.name ? box.title : '',
      right: unused.length > 2 ? '' : parametersOf(box, measure),
    }
  const type = typeOf(box, measure)
  const parameters = parametersOf(box, measure)
  const module = measure.sheet.moduleOf.get(box.id)
  if (module) return { title: module.title, aside: [module.type, type].filter(Boolean).join(' · '), right: parameters }
  const aside = measure.spacious?.aside(box, measure) ?? ''
  const isNamed = box.kind === 'op' && isOwnName(box.name)
  const [title, second] = isNamed ? [box.name, type] : [type, box.name]
  return parameters ? { title, aside: aside || second, right: parameters } : { title, aside, right: second }
}

/** Which of several results the cells of a box hold. */
export function valueTag(box: Box, { story: { index } }: Measure): string {
  const [name = ''] = index.tensor(box.tensor)?.names ?? []
  return index.op(box.op)?.outputs[1] && box.name !== name ? cutEnd(name, TAG, 80) : ''
}

export function gradientTag(box: Box, measure: Measure): string {
  if (box.kind !== 'leaf') return valueTag(box, measure)
  return measure.story.index.tensor(box.tensor)?.requires_grad ? '.grad' : ''
}

export function tagWidth(tag: string): number {
  return tag ? textWidth(tag, TAG) + 7 : 0
}

export function typeOf(box: Box, { spacious }: Measure): string {
  return spacious ? box.title : box.title.replace(/Backward\d*$/, '') || box.title
}

export function headOfGroup(group: Group, measure: Measure): Head {
  const pass = group.kind === 'layer' ? measure.story.index.passes.get(group.pass ?? '') : undefined
  if (pass)
    return {
      title: `${pass.kind === 'grad' ? 'grad()' : 'backward()'} #${pass.id.slice(1)}`,
      aside: measure.words('graph.layer'), right: '',
    }
  const count = group.repeat && group.repeat > 1
    ? measure.words('graph.times', { n: group.repeat })
    : group.size
      ? measure.words(isOfLeaves(measure.sheet, group.id) ? 'graph.leaves' : 'graph.nodes', { n: group.size }) : ''
  const simulated = measure.story.index.trace.environment.simulated_devices?.includes(group.title)
  const type = group.kind === 'device' && simulated ? measure.words('graph.simulated')
    : group.title.includes(' = ') ? '' : group.type
  return {
    title: groupTitle(group, measure.words), aside: [type, count].filter(Boolean).join(' · '),
    right: group.parameters ? formatCount(group.parameters) : '',
  }
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

/** `2.25 + 2.25 → 4.5`; more than three terms are counted. Where that needs more room, or norms stand for several
 *  vectors, which would read as a wrong sum, only how many they are: `2 gradients → ‖4.5‖`. What came alone is told in
 *  numbers, `None → [1, 2]`, or not at all, the cell above has it. */
export function stripText(strip: Strip, words: Say, room = Infinity): string {
  const { terms, before } = strip
  if (terms.length === 0) return ''
  const few = terms.length > 3 ? terms.slice(0, 2) : terms
  const result = strip.done ? strip.result : null
  const listed = briefs([...few, result], Infinity).map((text, at) => text ?? (at === 0 && before ? 'None' : '·'))
  const made = listed.pop()!
  const norm = result ? labelText(result) : made
  const n = terms.length - (before && !terms[0] ? 1 : 0)
  const left = few === terms ? [] : [words('graph.more', { n: terms.length - 2 })]
  const sum = plus([...listed, ...left])
  const isAlone = n < 2 && before
  const head = n > 1 ? `${words('graph.gradients', { n })} → ` : '→ '
  const told = [`${sum} → ${made}`, (isAlone ? `${listed[0]!} → ` : head) + made].filter(
    (text) => strip.kind === 'hook' || !text.includes('‖'))
  const texts = [...told.flatMap((text) => [text, inDigits(text, 3)]), ...(isAlone ? [] : [head + norm])]
  return texts.find((text) => textWidth(text, STRIP_TEXT) <= room) ?? ''
}

export function stripLabel(strip: Strip, { story, words }: Measure): string {
  if (strip.kind === 'sum') return 'Σ'
  if (strip.kind === 'hook') return 'hook'
  if (strip.raised) return failureWords(strip.raised, story.index.trace, words)
  return strip.done ? '.grad' : 'AccumulateGrad'
}

/** In the reader's language where a finding explains the failure; else PyTorch's own message. */
function failureWords(raised: Caught, { failure, findings }: Trace, words: Say): string {
  const finding = findings.find((finding) => raised === failure && finding.severity === 'error')
  const key = `finding.${finding?.code}.title`
  const said = finding ? words(key, finding.parameters ?? {}).replaceAll('`', '') : key
  return said === key ? raised.message : said
}

/** What stands in a cell, how wide it is with its tag, and whether that stands beside it; without a tensor, that nobody
 *  recorded it. The few numbers of a `.grad` stand there in any case, alone where they need its room. */
export function cellOf(
  tensor: Tensor | undefined, tag: string, { cell, words }: Pick<Measure, 'cell' | 'words'>, room = cell,
): { shown: Display; width: number; tag: string } {
  const most = Math.max(cell, room)
  const beside = tagWidth(tag)
  const shown = tensor ? displayIn(tensor, most - beside) : word(words('graph.unrecorded'), 'plain')
  const width = shown.width + beside
  if (!tensor || (shown.kind !== 'thumb' && width <= most)) return { shown, width, tag }
  const alone = displayIn(tensor, most, tag === '.grad' ? 4 : 0)
  return { shown: alone, width: alone.width, tag: '' }
}

/** Whether a box keeps room for its strip at every step. */
export function keepsStrip(box: Box, { story }: Measure): boolean {
  const { strips, hasGrad } = story.contents(box.id)
  return hasGrad || strips.length > 0
}

/** Of a stub whose text is not cut. */
export function naturalWidth({ text }: Stub): number {
  return Math.max(24, Math.ceil(textWidth(text, LABEL)) + 12)
}

export function stubWidth(stub: Stub, measure: Measure): number {
  return Math.min(STUB.widest[measure.density], naturalWidth(stub))
}

/** What the stubs of a box take at its left. */
export function stubsWidth(id: string, measure: Measure): number {
  const stubs = measure.sheet.stubs.get(id) ?? []
  return stubs.length > 0 ? stubGap(measure) + Math.max(...stubs.map((stub) => stubWidth(stub, measure))) : 0
}

/** From a stub to its box. */
export function stubGap({ density, spacious }: Measure): number {
  return density === 'model' || !spacious ? STUB.gap / 2 : STUB.gap
}

/** What a wire of many tensors says. */
export function times(count: number): string {
  return `×${count}`
}

/** Shape, then the slot's name under it. */
export function forwardLabel(link: DrawnLink, measure: Measure, withSlot: boolean): string[] {
  const tensor = measure.story.index.tensor(link.tensor)
  const shape = !tensor
    ? ''
    : tensor.shape.length === 0
      ? measure.captions
        ? measure.words('graph.scalar')
        : ''
      : formatShape(tensor.shape)
  const become = tensor ? becomeOf(link, tensor, measure) : ''
  const row = become ? `${shape} → ${become}`.trim() : shape
  return [row, withSlot && measure.spacious ? (link.label ?? '') : ''].filter((text) => text !== '')
}

export const CASTS: ReadonlySet<string> = new Set(
  ['to', 'type', 'float', 'double', 'half', 'bfloat16', 'int', 'long', 'short', 'bool', 'cpu', 'cuda'],
)

/** What an op only makes another form of: the dtype it casts to, where it takes it, the shape it stretches it to where
 *  no gradient is summed back. */
function becomeOf(link: DrawnLink, tensor: Tensor, { story, sheet }: Measure): string {
  const op = story.index.op(sheet.boxes.get(link.target)?.op)
  const made = story.index.tensor(op?.outputs[0])
  if (!op || !made) return ''
  const { dtype, device = 'cpu', shape } = made
  if (CASTS.has(op.name)) {
    const changed = [dtype === tensor.dtype ? '' : dtype, device === (tensor.device ?? 'cpu') ? '' : device]
    return changed.filter((word) => word !== '').join(' · ')
  }
  const input = op.inputs.indexOf(tensor.id)
  return link.kind !== 'data' && op.broadcast?.some((one) => one.input === input) ? formatShape(shape) : ''
}

/** The number that all elements of a gradient are, else its norm. */
export const labelText = (tensor: Tensor): string => briefs([tensor], 0)[0]!

/** A gradient beside its lane: in full where it is small and has the room, else one number. */
export function gradientLabel(tensor: Tensor, room: number): Display {
  const full = display(tensor)
  if (full.kind !== 'thumb' && (full.kind !== 'matrix' || full.width <= room)) return full
  const text = labelText(tensor)
  return { kind: 'number', text, width: textWidth(text, LABEL), height: LABEL_ROW }
}

/** What keeps autograd from recording, as a program writes it. */
export const SWITCHES: Readonly<Record<string, string>> = {
  no_grad: 'no_grad', inference_mode: 'inference_mode', set_grad_enabled: 'set_grad_enabled(False)',
}

const CAUSES: Readonly<Record<string, string>> = { ...SWITCHES, data: '.data', tensor: 'torch.tensor()' }

export function cutText(link: DrawnLink, { words }: Measure): string[] {
  const cause = CAUSES[link.reason ?? ''] ?? `${link.reason || 'detach'}()`
  const line = link.span?.line
  return [words('graph.cut', { reason: cause }), ...(line ? [words('graph.cut_line', { line })] : [])]
}

export function cutWidth(rows: readonly string[]): number {
  return 8 + Math.ceil(Math.max(...rows.map((row) => textWidth(row, 11.5))))
}

const SUBSCRIPTS = '₀₁₂₃₄₅₆₇₈₉'

/** The axes summed over and, once it is `summed`, the gradient's shape before and after: `Σ₀ 4×3 → 3`. */
export function capsuleText(link: DrawnLink, { story, sheet }: Measure, summed = true): string {
  const axes = link.broadcast ?? []
  const lowered = axes.join('').replace(/\d/g, (digit) => SUBSCRIPTS[Number(digit)]!)
  const sum = `Σ${lowered}`
  const before = story.index.tensor(sheet.boxes.get(link.target)?.tensor)?.shape
  const after = story.index.tensor(link.tensor)?.shape
  return summed && before && after && stretches(after, before, axes)
    ? `${sum} ${formatShape(before)} → ${formatShape(after)}`
    : sum
}

export function capsuleWidth(text: string): number {
  return Math.ceil(textWidth(text, SMALLEST)) + 16
}

/** Whether broadcasting one shape along these axes, and no others, makes the other. */
function stretches(from: readonly number[], to: readonly number[], axes: readonly number[]): boolean {
  const missing = to.length - from.length
  return (
    missing >= 0 &&
    to.every((size, axis) =>
      axes.includes(axis) ? axis < missing || from[axis - missing] === 1 : from[axis - missing] === size,
    )
  )
}

/** Of a collective: the caption of a column, the arrow in it, tensors of one rank that are named one by one. */
export const CAPTION = 18
export const ARROW = 26
const MOST_EXCHANGED = 4

/** What one rank gave to a collective, or got from it. */
export function exchangedText(tensors: readonly Tensor[]): Display {
  if (tensors.length === 0) return WAITING
  const [only] = tensors
  const shown = tensors.length === 1 ? display(only!) : null
  if (shown && shown.kind !== 'thumb') return shown
  const more = tensors.length > MOST_EXCHANGED ? ', …' : ''
  return word(tensors.slice(0, MOST_EXCHANGED).map(brief).join(', ') + more, 'plain')
}
