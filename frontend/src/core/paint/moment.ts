// What every box and link looks like at one step: a pure function of (index, sheet, pass, step).

import type { Box, Group, Pass, Step, Tensor } from '../../api/types'
import { childrenOf, isOfLeaves, type DrawnLink, type Sheet } from '../layout/fold'
import { nonFiniteText, normOf } from '../words/display'
import type { TraceIndex, VisitAt } from '../trace/trace-index'
import { stepOfGrads } from '../trace/visits'
import { exchangesOf, metBy, type Exchanged } from '../trace/collectives'
import { groupLife, type GroupLife } from './group-life'
import { lastVisit, latest, Lives, type Life } from './lives'
import { Strips, type Strip } from './strips'

export type Progress = 'future' | 'waiting' | 'forward' | 'current' | 'visited'
type LaneState = 'absent' | 'waiting' | 'current' | 'passed'

/** What a cell holds: nothing by nature, a value nobody recorded, an exception, not yet, `None`, a tensor, or
 *  of many the norm. */
export type Cell =
  | { kind: 'blank' }
  | { kind: 'unknown'; tensor?: undefined }
  | { kind: 'raised'; text: string }
  | { kind: 'waiting' }
  | { kind: 'none' }
  | { kind: 'tensor'; tensor: Tensor }
  | { kind: 'norm'; norm: number }

export interface BoxPaint {
  progress: Progress
  value: Cell
  gradient: Cell
  strip: Strip | null
  trouble: '' | 'raised' | 'nonfinite' | 'cut'
  /** A leaf whose value is a later one than the ops drawn took. */
  updated?: boolean
  /** A leaf that all passes have left without a gradient. */
  leftOut?: boolean
  /** Gradient came here, but `autograd.grad()` returned it instead of adding it to `.grad`. */
  returned?: boolean
  /** For a collective the ranks that have met so far. */
  exchanged: readonly Exchanged[]
}

export interface LinkPaint {
  forward: 'waiting' | 'current' | 'done'
  gradient: LaneState
  value: Tensor | null
  /** The gradient on it has been summed over the axes it was broadcast along. */
  summed?: boolean
}

export interface SeedPaint {
  state: LaneState
  value: Tensor | null
  text: string
}

export interface Moment {
  step: number
  event: Step | undefined
  box(id: string): BoxPaint
  /** A folded group: the cells of its last box, and how far all of it is. */
  group(group: Group): BoxPaint
  /** Only how far a box or a folded group is, for drawing many of them small. */
  progress(id: string): Progress
  link(link: DrawnLink): LinkPaint
  seed(box: string): SeedPaint | null
  /** Box of the current event, or the one that its node is drawn inside of, to follow. */
  currentBox: string | null
  currentLine: number | null
}

interface Contents {
  values: readonly Tensor[]
  gradients: readonly Tensor[]
  strips: readonly Strip[]
  hasGrad: boolean
}

/** The lives of all boxes of one view, made once; `at` is cheap. */
export class Story {
  readonly lives: Lives
  private readonly strips: Strips
  /** What findings are about. */
  private readonly concerned: Readonly<Record<'nodes' | 'tensors', ReadonlySet<string>>>
  private readonly known = new Map<string, Contents>()
  private readonly groups = new Map<string, GroupLife>()
  private readonly roots = new Map<string, string | null>()

  constructor(
    readonly index: TraceIndex,
    readonly sheet: Sheet,
  ) {
    this.lives = new Lives(index, sheet)
    const { findings } = index.trace
    this.concerned = {
      nodes: new Set(findings.flatMap((finding) => finding.nodes ?? [])),
      tensors: new Set(findings.flatMap((finding) => finding.tensors ?? []).map((id) => index.identity(id))),
    }
    this.strips = new Strips(this.lives)
  }

  linksOut(id: string): readonly DrawnLink[] {
    return this.lives.linksOut(id)
  }

  hasSeed(id: string): boolean {
    return this.lives.seeds.has(id)
  }

  /** Where a pass starts in a group that no wire leaves. */
  rootIn(group: string): string | null {
    let root = this.roots.get(group)
    if (root === undefined) {
      const { inside } = this.group(group)
      const own = new Set(inside.map((box) => box.id))
      const isEnd = inside.every((box) => this.linksOut(box.id).every((link) => own.has(link.target)))
      root = (isEnd && inside.find((box) => this.hasSeed(box.id))?.id) || null
      this.roots.set(group, root)
    }
    return root
  }

  /** Every gradient that will ever enter the node a folded group is shown by. */
  gradientsAt(node: string | null | undefined): readonly Tensor[] {
    return this.lives.boxesOf(node ?? '').flatMap((box) => this.contents(box).gradients)
  }

  /** Everything the cells and the strip of a box will ever hold, for measuring; made once, a leaf may live through many
   *  passes. */
  contents(id: string): Contents {
    let known = this.known.get(id)
    if (!known) {
      const life = this.lives.byBox.get(id)!
      const gradients = life.box.kind === 'leaf'
        ? life.grads.map((grad) => grad.at)
        : life.visits.map((visit) => this.lives.entered(life.box, visit))
      known = {
        values: life.values.map((value) => value.at),
        gradients: gradients.filter((tensor): tensor is Tensor => tensor != null),
        strips: this.strips.all(life),
        hasGrad: life.box.kind === 'leaf' && life.box.node != null,
      }
      this.known.set(id, known)
    }
    return known
  }

  /** Every gradient a link will ever carry. */
  gradientsOn(link: DrawnLink): Tensor[] {
    if (link.kind === 'exchange') return [this.index.tensor(link.back)].filter((tensor) => tensor !== undefined)
    return this.lives.crossings(link)
      .map((visit) => this.index.tensor(visit.visit.left[link.slot ?? -1]))
      .filter((tensor): tensor is Tensor => tensor != null)
  }

  gradientsEntering(id: string): Tensor[] {
    const life = this.lives.byBox.get(id)
    if (!life) return []
    const found = life.box.kind === 'leaf'
      ? life.additions.flatMap(({ at: { accumulation } }) =>
        [accumulation.after, accumulation.delta].map((id) => this.index.tensor(id)))
      : life.visits.map((visit) => this.lives.entered(life.box, visit))
    return found.filter((tensor): tensor is Tensor => tensor != null)
  }

  /** What is in a group at any depth, in forward order. */
  group(id: string): GroupLife {
    let known = this.groups.get(id)
    if (!known) {
      const boxes: Box[] = []
      const pending = [id]
      for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
        const box = this.sheet.boxes.get(at)
        if (box) boxes.push(box)
        else pending.push(...[...childrenOf(this.sheet, at)].reverse())
      }
      known = groupLife(boxes, this.sheet.groups.get(id)?.node, this.lives, (life) => this.isSuspect(life))
      this.groups.set(id, known)
    }
    return known
  }

  at(step: number): Moment {
    const event = this.index.event(step)
    const currentBox = this.lives.currentBox(event) ?? this.lives.boxAround(event)
    const near = currentBox ?? this.lives.boxNear(step)
    return {
      step,
      event,
      currentBox,
      currentLine: event?.span?.line ?? null,
      box: (id) => this.paintBox(id, step, event, currentBox === id),
      group: (group) => this.paintGroup(group, step, event, near),
      progress: (id) => {
        const life = this.lives.byBox.get(id)
        return life
          ? this.progress(life, step, currentBox === id ? event : undefined)
          : this.progressOfGroup(this.group(id), step, event, near)
      },
      link: (link) => this.paintLink(link, step, event, currentBox),
      seed: (box) => this.paintSeed(box, step, event),
    }
  }

  private paintBox(id: string, step: number, event: Step | undefined, isCurrent: boolean): BoxPaint {
    const life = this.lives.byBox.get(id)!
    const value = latest(life.values, step)
    const visit = this.lives.latest(life.visits, step)
    return {
      progress: this.progress(life, step, isCurrent ? event : undefined),
      value:
        step < life.forwardStep ? { kind: 'waiting' } : value ? { kind: 'tensor', tensor: value } : { kind: 'unknown' },
      gradient: this.gradientCell(life, visit, step),
      strip: this.strips.at(life, step),
      trouble: this.trouble(life, step),
      updated: this.lives.isUpdated(life, step),
      leftOut: this.isLeftOut(life, step),
      returned: this.isReturned(life, step),
      exchanged: metBy(this.index, exchangesOf(this.index, life.box), step),
    }
  }

  private paintGroup(group: Group, step: number, event: Step | undefined, currentBox: string | null): BoxPaint {
    const inside = this.group(group.id)
    const last = inside.last
      ? this.paintBox(inside.last.id, step, event, false)
      : isOfLeaves(this.sheet, group.id) && this.together(inside.inside, step)
    return {
      progress: this.progressOfGroup(inside, step, event, currentBox),
      value: last ? last.value : { kind: 'blank' },
      gradient: last ? last.gradient : { kind: 'blank' },
      strip: null,
      exchanged: [],
      trouble: inside.suspects.map((life) => this.trouble(life, step)).find((trouble) => trouble !== '') ?? '',
    }
  }

  /** Values and gradients of leaves that are shown as one. */
  private together(leaves: readonly Box[], step: number): Pick<BoxPaint, 'value' | 'gradient'> {
    const at = stepOfGrads(this.index, this.sheet.graph, step)
    const norm = (of: 'values' | 'grads', step: number, none: Cell): Cell => {
      const tensors = leaves.flatMap(({ id }) => latest(this.lives.byBox.get(id)![of], step) ?? [])
      return tensors[0] ? { kind: 'norm', norm: Math.hypot(...tensors.map(normOf)) } : none
    }
    return { value: norm('values', step, { kind: 'waiting' }), gradient: norm('grads', at, { kind: 'none' }) }
  }

  private progressOfGroup(
    inside: GroupLife, step: number, event: Step | undefined, currentBox: string | null,
  ): Progress {
    if (event && currentBox !== null && inside.ids.has(currentBox)) return /^(op|call)/.test(event.kind) ? 'forward' : 'current'
    if (step >= inside.reached) return 'visited'
    return step >= inside.begins ? 'waiting' : 'future'
  }

  private progress(life: Life, step: number, now: Step | undefined): Progress {
    if (now) return now.op != null ? 'forward' : 'current'
    if (this.lives.reached(life) <= step) return 'visited'
    return step >= life.forwardStep ? 'waiting' : 'future'
  }

  private gradientCell(life: Life, visit: VisitAt | undefined, step: number): Cell {
    const { box } = life
    if (box.kind === 'leaf' && life.values[0]?.at.requires_grad) {
      const grad = latest(life.grads, stepOfGrads(this.index, this.sheet.graph, step))
      return grad ? { kind: 'tensor', tensor: grad } : { kind: 'none' }
    }
    const raised = this.lives.raisedHere(life, step)
    if (raised) return { kind: 'raised', text: raised.type }
    if (box.kind === 'ghost' || box.node == null) return { kind: 'blank' }
    const next = life.visits.find(
      (candidate) =>
        this.strips.summedAt(box, candidate) <= step && candidate.step > step && this.strips.hasSum(box, candidate),
    )
    const shown = next ?? visit
    if (shown) {
      const tensor = this.lives.entered(box, shown)
      return tensor ? { kind: 'tensor', tensor } : { kind: 'none' }
    }
    return this.lives.isOver(step) ? { kind: 'none' } : { kind: 'waiting' }
  }

  private trouble(life: Life, step: number): BoxPaint['trouble'] {
    if (this.lives.raisedHere(life, step)) return 'raised'
    if (!this.isConcerned(life)) return ''
    const sent = lastVisit(life.visits, step)?.visit.left.map((id) => this.index.tensor(id)) ?? []
    if ([latest(life.grads, step), ...sent].some(isTroubled)) return 'nonfinite'
    if (step >= life.forwardStep && this.isFirstNonFinite(life)) return 'nonfinite'
    return this.isLeftOut(life, step) ? 'cut' : ''
  }

  private isLeftOut(life: Life, step: number): boolean {
    return this.isWithout(life) && this.lives.isOver(step) && !this.isReturned(life, step)
  }

  /** Whether a leaf never has a `.grad`. */
  private isWithout({ box, grads }: Life): boolean {
    return box.kind === 'leaf' && box.node != null && grads.length === 0
  }

  /** Whether a leaf will at some step say that a pass returned its gradient. */
  isEverReturned(id: string): boolean {
    return this.isReturned(this.lives.byBox.get(id)!, Infinity)
  }

  private isReturned(life: Life, step: number): boolean {
    return this.isWithout(life) && this.lives.linksOut(life.box.id).some(
      (link) =>
        link.kind === 'data' &&
        this.lives.crossings(link).some(
          (visit) =>
            visit.step > 0 &&
            visit.step <= step &&
            visit.pass.kind === 'grad' &&
            visit.visit.left[link.slot ?? -1] != null,
        ),
    )
  }

  private isFirstNonFinite(life: Life): boolean {
    const sources = this.lives.linksInto.get(life.box.id) ?? []
    return isTroubled(life.values[0]?.at) && !sources.some((link) => isTroubled(this.index.tensor(link.tensor)))
  }

  /** Whether a finding is about the code that cut a link; a cut that nothing suffers from is no alarm. */
  isFound(link: DrawnLink): boolean {
    return this.index.trace.findings.some(
      (finding) =>
        finding.severity !== 'note' &&
        finding.span != null &&
        finding.span.line <= (link.span?.line ?? 0) &&
        (link.span?.line ?? 0) <= finding.span.end_line,
    )
  }

  /** Whether a box may be in trouble at some step. */
  private isSuspect(life: Life): boolean {
    return this.isConcerned(life) || this.lives.raisedHere(life, Infinity) !== null
  }

  /** Whether a finding is about a box, or about a node and the `.grad` of this leaf ends as no finite number. */
  private isConcerned({ box, grads }: Life): boolean {
    const { nodes, tensors } = this.concerned
    return nodes.has(box.node ?? '') || (nodes.size > 0 && isTroubled(grads.at(-1)?.at)) ||
      (box.tensor != null && tensors.has(this.index.identity(box.tensor)))
  }

  private paintLink(link: DrawnLink, step: number, event: Step | undefined, currentBox: string | null): LinkPaint {
    const target = this.lives.byBox.get(link.target)!
    const isForward = step >= target.forwardStep
    const forward = !isForward ? 'waiting' : event?.kind === 'op' && currentBox === link.target ? 'current' : 'done'
    if (link.kind === 'exchange') return this.paintExchange(link, step, event)
    if (link.kind !== 'data') return { forward, gradient: 'absent', value: null }
    const visit = this.lives.latest(this.lives.crossings(link), step)
    const value = visit ? (this.index.tensor(visit.visit.left[link.slot ?? -1]) ?? null) : null
    if (!visit || !value) return { forward, gradient: this.lives.isOver(step) ? 'absent' : 'waiting', value: null }
    // The sums of a visit follow it in order.
    const reduction = visit.visit.reduced?.findIndex(({ slot }) => slot === link.slot) ?? -1
    const gradient = this.isCrossing(link, visit, event) ? 'current' : 'passed'
    return { forward, gradient, value, summed: step > visit.step + reduction }
  }

  private paintExchange(link: DrawnLink, step: number, event: Step | undefined): LinkPaint {
    const op = this.index.op(link.op)
    const [isDone, isNow] = [op && step >= (this.index.stepOfOp.get(op.id) ?? 0), op && event?.op === op.id]
    const value = isDone ? (this.index.tensor(link.back) ?? null) : null
    const state = !isDone ? 'waiting' : isNow ? 'current' : 'passed'
    return { forward: state === 'passed' ? 'done' : state, gradient: link.back ? state : 'absent', value }
  }

  /** Whether the current event is this gradient leaving its consumer, or being taken in by its producer. */
  private isCrossing(link: DrawnLink, visit: VisitAt, event: Step | undefined): boolean {
    if (!event || event.pass !== visit.pass.id) return false
    if (event.kind === 'visit') return event.visit === visit.index
    if (event.kind === 'reduce') return event.visit === visit.index && event.slot === link.slot
    const source = this.lives.sheet.boxes.get(link.source)
    const at = event.kind === 'accumulate'
      ? visit.pass.accumulations[event.accumulation ?? -1]?.visit
      : event.kind === 'sum' || event.kind === 'hook'
        ? event.visit
        : undefined
    if (at == null || !source) return false
    const receiver = visit.pass.visits[at]
    return (
      receiver?.node === source.node &&
      (event.kind === 'accumulate' || (source.output_nr ?? 0) === (event.input_nr ?? 0))
    )
  }

  private paintSeed(box: string, step: number, event: Step | undefined): SeedPaint | null {
    const seeds = this.lives.seeds.get(box)
    if (!seeds) return null
    const shown = seeds.findLast((seed) => seed.step <= step && !this.lives.isLeft(seed.pass, step))
    const seed = shown ?? seeds[0]!
    const isNow =
      shown !== undefined && event?.kind === 'seed' && event.pass === seed.pass.id && event.root === seed.root
    return {
      state: shown ? (isNow ? 'current' : 'passed') : 'waiting',
      value: shown ? (this.index.tensor(seed.pass.roots[seed.root]?.seed) ?? null) : null,
      text: this.callText(seed.pass),
    }
  }

  /** The call as the user wrote it: `out.backward()`. */
  callText(pass: Pass): string {
    const { span } = pass
    const line = span ? this.index.trace.program.code.split('\n')[span.line - 1] : undefined
    if (!span || line === undefined) return pass.kind === 'grad' ? 'autograd.grad()' : 'backward()'
    const letters = [...line]
    return shortCall(
      letters.slice(span.column, span.end_line === span.line ? span.end_column : undefined).join(''),
      this.lives.seeds.size > 1 ? 20 : 28,
    )
  }

}

/** A call that has room beside a lane: without its module, then without its keywords, then cut. */
function shortCall(text: string, most: number): string {
  if (text.length <= most) return text
  const bare = text.replace(/^(torch\.)?(autograd\.)?/, '')
  const short = bare.length <= most ? bare : bare.replace(/, \w+=.*\)$/, ', …)')
  return short.length > most ? `${short.slice(0, most - 1)}…` : short
}

const isTroubled = (tensor: Tensor | null | undefined): boolean => !!tensor && nonFiniteText(tensor) !== ''
