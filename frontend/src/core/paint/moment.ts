// What every box and link looks like at one step: a pure function of (index, sheet, pass, step).

import type { Accumulation, Box, Pass, Step, Sum, Tensor } from '../../api/types'
import type { DrawnLink, Sheet } from '../layout/fold'
import { nonFinite } from '../words/display'
import { push, type TraceIndex, type VisitAt } from '../trace/trace-index'

export type Progress = 'future' | 'waiting' | 'forward' | 'current' | 'visited'
export type LaneState = 'absent' | 'waiting' | 'current' | 'passed'

/** What a cell holds: nothing by nature, a value nobody recorded, an exception, not yet, `None`, or a tensor. */
export type Cell =
  | { kind: 'blank' }
  | { kind: 'unknown' }
  | { kind: 'raised'; text: string }
  | { kind: 'waiting' }
  | { kind: 'none' }
  | { kind: 'tensor'; tensor: Tensor }

export interface Strip {
  kind: 'sum' | 'grad' | 'hook' | 'error'
  /** Terms that have arrived, in the engine's order; null is `None` or still missing. */
  terms: readonly (Tensor | null)[]
  /** What the terms became; null until it happened. */
  result: Tensor | null
  done: boolean
  now: boolean
  /** Whether the first term is the `.grad` from before. */
  before: boolean
}

export interface BoxPaint {
  progress: Progress
  value: Cell
  gradient: Cell
  strip: Strip | null
  trouble: '' | 'raised' | 'nonfinite' | 'cut'
  /** A leaf that all passes have left without a gradient. */
  leftOut: boolean
  /** Gradient came here, but `autograd.grad()` returned it instead of adding it to `.grad`. */
  returned: boolean
}

export interface LinkPaint {
  forward: 'waiting' | 'current' | 'done'
  gradient: LaneState
  value: Tensor | null
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
  /** Only how far a box is, for drawing many of them small. */
  progress(id: string): Progress
  link(link: DrawnLink): LinkPaint
  seed(box: string): SeedPaint | null
  /** Box of the current event, to follow. */
  currentBox: string | null
  currentLine: number | null
}

interface Dated<T> {
  step: number
  at: T
}

/** Everything that will ever be shown on one box, dated. */
interface Life {
  box: Box
  forwardStep: number
  values: Dated<Tensor>[]
  visits: readonly VisitAt[]
  /** For a leaf with a `.grad`. */
  grads: Dated<Tensor | null>[]
  additions: Dated<{ accumulation: Accumulation; pass: Pass }>[]
}

interface Contents {
  values: readonly Tensor[]
  gradients: readonly Tensor[]
  strips: readonly Strip[]
  hasGrad: boolean
}

interface Seed {
  pass: Pass
  root: number
  step: number
}

/** The lives of all boxes of one view, made once; `at` is cheap. */
export class Story {
  private readonly lives = new Map<string, Life>()
  private readonly shown: ReadonlySet<string>
  private readonly seeds = new Map<string, Seed[]>()
  private readonly boxOfNode = new Map<string, string[]>()
  private readonly boxOfOp = new Map<string, string>()
  private readonly linksFrom = new Map<string, DrawnLink[]>()
  private readonly linksInto = new Map<string, DrawnLink[]>()
  private readonly sources = new Map<string, readonly Tensor[]>()
  private readonly known = new Map<string, Contents>()

  constructor(
    readonly index: TraceIndex,
    readonly sheet: Sheet,
  ) {
    this.shown = new Set(sheet.graph.passes)
    for (const link of sheet.links) {
      push(this.linksFrom, link.source, link)
      push(this.linksInto, link.target, link)
    }
    for (const box of sheet.boxes.values()) {
      if (box.node != null) push(this.boxOfNode, box.node, box.id)
      if (box.op != null && !this.boxOfOp.has(box.op)) this.boxOfOp.set(box.op, box.id)
    }
    for (const box of sheet.boxes.values()) this.lives.set(box.id, this.life(box))
    this.readSeeds()
  }

  /** Whether a pass is among those shown. */
  private shows(pass: Pass): boolean {
    return this.shown.size === 0 || this.shown.has(pass.id)
  }

  private life(box: Box): Life {
    const op = this.index.op(box.op) ?? (box.tensor != null ? this.index.producer(box.tensor) : undefined)
    const forwardStep = op ? (this.index.stepOfOp.get(op.id) ?? 0) : 0
    const first = this.index.tensor(box.tensor)
    const values: Dated<Tensor>[] = first ? [{ step: forwardStep, at: first }] : []
    const life: Life = { box, forwardStep, values, visits: [], grads: [], additions: [] }
    if (box.kind === 'leaf' && first) {
      const identity = this.index.identity(first.id)
      life.grads = this.gradsOf(identity)
      for (const { accumulation, pass, step } of this.index.accumulationsOf.get(identity) ?? []) {
        life.additions.push({ step, at: { accumulation, pass } })
      }
      for (const { update, step } of this.index.updatesInOrder) {
        for (const change of update.changes) {
          const after = this.index.tensor(change.after)
          if (after && step >= forwardStep && this.index.identity(after.id) === identity)
            values.push({ step, at: after })
        }
      }
    } else if (box.node != null) {
      life.visits = (this.index.visitsOfNode.get(box.node) ?? []).filter((visit) => this.shows(visit.pass))
    }
    return life
  }

  /** The `.grad` of a leaf over time: additions of all passes, resets and edits. */
  private gradsOf(leaf: string): Dated<Tensor | null>[] {
    const { index } = this
    const added = (index.accumulationsOf.get(leaf) ?? []).map(({ accumulation, step }) => ({ step, to: accumulation }))
    const set = (index.gradChangesOf.get(leaf) ?? []).map(({ change, step }) => ({ step, to: change }))
    return [...added, ...set]
      .map(({ step, to }) => ({ step, at: index.tensor(to.after) ?? null }))
      .sort((a, b) => a.step - b.step)
  }

  private readSeeds(): void {
    for (const pass of this.index.trace.passes) {
      if (!this.shows(pass)) continue
      pass.roots.forEach((root, at) => {
        if (root.node == null) return
        const box = this.boxOf(root.node, root.input_nr)
        if (box !== undefined)
          push(this.seeds, box, {
            pass, root: at, step: this.index.seedStep(pass.id, at) || this.index.passStart(pass.id),
          })
      })
    }
  }

  private boxOf(node: string, inputNr: number): string | undefined {
    const boxes = this.boxOfNode.get(node)
    return boxes?.find((id) => (this.sheet.boxes.get(id)?.output_nr ?? 0) === inputNr) ?? boxes?.[0]
  }

  /** Step numbers for the margins of a box, of its latest visit or else its first; 0 when there is none. */
  steps(id: string, step: number): { forward: number; backward: number } {
    const life = this.lives.get(id)
    if (!life) return { forward: 0, backward: 0 }
    const all = life.box.kind === 'leaf' ? life.additions.filter(({ at }) => this.shows(at.pass)) : life.visits
    const reached = all.findLast((one) => one.step <= step) ?? all[0]
    return { forward: life.forwardStep, backward: reached?.step ?? 0 }
  }

  hasSeed(id: string): boolean {
    return this.seeds.has(id)
  }

  /** Every gradient that will ever enter the node a folded group is shown by. */
  gradientsAt(node: string | null | undefined): readonly Tensor[] {
    return (this.boxOfNode.get(node ?? '') ?? []).flatMap((box) => this.contents(box).gradients)
  }

  /** Everything the cells and the strip of a box will ever hold, for measuring; made once, a leaf may live through many
   *  passes. */
  contents(id: string): Contents {
    let known = this.known.get(id)
    if (!known) {
      const life = this.lives.get(id)!
      const gradients = life.box.kind === 'leaf'
        ? life.grads.map((grad) => grad.at)
        : life.visits.map((visit) => this.entered(life.box, visit))
      known = {
        values: life.values.map((value) => value.at),
        gradients: gradients.filter((tensor): tensor is Tensor => tensor != null),
        strips: this.strips(life),
        hasGrad: life.box.kind === 'leaf' && life.box.node != null,
      }
      this.known.set(id, known)
    }
    return known
  }

  /** Every gradient a link will ever carry. */
  gradientsOn(link: DrawnLink): Tensor[] {
    return this.crossings(link)
      .map((visit) => this.index.tensor(visit.visit.left[link.slot ?? -1]))
      .filter((tensor): tensor is Tensor => tensor != null)
  }

  gradientsEntering(id: string): Tensor[] {
    const life = this.lives.get(id)
    if (!life) return []
    const found = life.box.kind === 'leaf'
      ? life.additions.map(({ at }) => this.index.tensor(at.accumulation.delta))
      : life.visits.map((visit) => this.entered(life.box, visit))
    return found.filter((tensor): tensor is Tensor => tensor != null)
  }

  private crossings(link: DrawnLink): readonly VisitAt[] {
    if (link.node == null || link.slot == null || link.kind !== 'data') return []
    return (this.index.visitsOfNode.get(link.node) ?? []).filter((visit) => this.shows(visit.pass))
  }

  private entered(box: Box, visit: VisitAt): Tensor | null {
    return this.index.tensor(visit.visit.entered[box.output_nr ?? 0]) ?? null
  }

  private strips(life: Life): Strip[] {
    if (this.raisedHere(life, Infinity)) return [RAISED]
    if (life.box.kind === 'leaf') return life.additions.map((addition) => this.additionStrip(addition, addition.step))
    return life.visits
      .map((visit) => this.sumStrip(life.box, visit, visit.step))
      .filter((strip): strip is Strip => strip !== null)
  }

  at(step: number): Moment {
    const event = this.index.event(step)
    const currentBox = this.currentBox(event)
    return {
      step,
      event,
      currentBox,
      currentLine: event?.span?.line ?? null,
      box: (id) => this.paintBox(id, step, event, currentBox === id),
      progress: (id) => this.progress(this.lives.get(id)!, step, currentBox === id ? event : undefined),
      link: (link) => this.paintLink(link, step, event, currentBox),
      seed: (box) => this.paintSeed(box, step, event),
    }
  }

  private currentBox(event: Step | undefined): string | null {
    if (!event) return null
    if (event.op != null) return this.boxOfOp.get(event.op) ?? null
    const pass = event.pass != null ? this.index.passes.get(event.pass) : undefined
    if (!pass) return null
    // A leaf's .grad follows every pass, so its additions are shown whichever pass is chosen.
    if (event.kind !== 'accumulate' && !this.shows(pass)) return null
    if (event.kind === 'accumulate')
      return this.boxOf(pass.accumulations[event.accumulation ?? -1]?.node ?? '', 0) ?? null
    if (event.hook != null)
      return (
        this.boxOf(
          this.index.hooks.get(event.hook)?.node ?? pass.visits[event.visit ?? -1]?.node ?? '', event.input_nr ?? 0,
        ) ?? null
      )
    if (event.kind === 'seed')
      return this.boxOf(pass.roots[event.root ?? -1]?.node ?? '', pass.roots[event.root ?? -1]?.input_nr ?? 0) ?? null
    return this.boxOf(pass.visits[event.visit ?? -1]?.node ?? '', event.input_nr ?? 0) ?? null
  }

  private paintBox(id: string, step: number, event: Step | undefined, isCurrent: boolean): BoxPaint {
    const life = this.lives.get(id)!
    const value = latest(life.values, step)
    const visit = lastVisit(life.visits, step)
    return {
      progress: this.progress(life, step, isCurrent ? event : undefined),
      value:
        step < life.forwardStep ? { kind: 'waiting' } : value ? { kind: 'tensor', tensor: value } : { kind: 'unknown' },
      gradient: this.gradientCell(life, visit, step),
      strip: this.stripAt(life, step, event, isCurrent),
      trouble: this.trouble(life, step),
      leftOut: this.isLeftOut(life, step) && !this.isReturned(life, step),
      returned: this.isReturned(life, step),
    }
  }

  private progress(life: Life, step: number, now: Step | undefined): Progress {
    if (now) return now.kind === 'op' ? 'forward' : 'current'
    const reached = life.box.kind === 'leaf'
      ? life.additions.some(({ at, step: then }) => then <= step && this.shows(at.pass))
      : lastVisit(life.visits, step) !== undefined
    if (reached) return 'visited'
    return step >= life.forwardStep ? 'waiting' : 'future'
  }

  private gradientCell(life: Life, visit: VisitAt | undefined, step: number): Cell {
    const { box } = life
    if (this.raisedHere(life, step)) return { kind: 'raised', text: this.index.trace.failure?.type ?? 'Error' }
    if (box.kind === 'ghost' || box.node == null) return { kind: 'blank' }
    if (box.kind === 'leaf') {
      const grad = latest(life.grads, step)
      return grad ? { kind: 'tensor', tensor: grad } : { kind: 'none' }
    }
    const next = life.visits.find(
      (candidate) => this.summedAt(box, candidate) <= step && candidate.step > step && this.hasSum(box, candidate),
    )
    const shown = next ?? visit
    if (shown) {
      const tensor = this.entered(box, shown)
      return tensor ? { kind: 'tensor', tensor } : { kind: 'none' }
    }
    return this.isOver(step) ? { kind: 'none' } : { kind: 'waiting' }
  }

  /** Whether the passes shown have all ended, so that what has not come will not come. */
  private isOver(step: number): boolean {
    const passes = this.index.trace.passes.filter((pass) => this.shows(pass))
    return passes.length > 0 && passes.every((pass) => this.index.passEnd(pass.id) <= step)
  }

  private hasSum(box: Box, visit: VisitAt): boolean {
    return this.sumOf(box, visit) !== undefined
  }

  private sumOf(box: Box, visit: VisitAt): Sum | undefined {
    return visit.visit.sums?.find((sum) => sum.input_nr === (box.kind === 'leaf' ? 0 : (box.output_nr ?? 0)))
  }

  private summedAt(box: Box, visit: VisitAt): number {
    return this.index.sumStep(visit.pass.id, visit.index, box.output_nr ?? 0) || visit.step
  }

  private stripAt(life: Life, step: number, event: Step | undefined, isCurrent: boolean): Strip | null {
    if (this.raisedHere(life, step)) return RAISED
    if (life.box.kind === 'leaf') {
      if (life.box.node == null) return null
      const pending = this.sumBeforeAddition(life, step)
      if (pending) return { ...pending, now: isCurrent && event?.kind === 'sum' }
      const reset = life.grads.filter((grad) => grad.step <= step).at(-1)
      const addition = life.additions.filter((candidate) => candidate.step <= step).at(-1)
      if (!addition || (reset && reset.step > addition.step)) {
        return { kind: 'grad', terms: [], result: null, done: false, now: false, before: false }
      }
      return { ...this.additionStrip(addition, step), now: isCurrent && event?.kind === 'accumulate' }
    }
    const visits = life.visits
    const shown =
      visits.find((visit) => visit.step > step && this.arrivals(life.box, visit, step) > 0) ??
      lastVisit(visits, step) ??
      visits[0]
    const strip = shown ? this.sumStrip(life.box, shown, step) : null
    return strip && { ...strip, now: isCurrent && (event?.kind === 'sum' || event?.kind === 'hook') }
  }

  /** Gradients that meet at a leaf, from the first arrival until they are added to its `.grad`. */
  private sumBeforeAddition(life: Life, step: number): Strip | null {
    const next = life.additions.find((addition) => addition.step > step)
    const visit =
      next &&
      this.index.visitsOfNode
        .get(life.box.node ?? '')
        ?.find((at) => at.pass === next.at.pass && at.index === next.at.accumulation.visit)
    return visit && this.arrivals(life.box, visit, step) > 0 ? this.sumStrip(life.box, visit, step) : null
  }

  private arrivals(box: Box, visit: VisitAt, step: number): number {
    return this.sumOf(box, visit)?.terms.filter((term) => this.arrived(term.node ?? null, visit, step)).length ?? 0
  }

  private arrived(node: string | null, visit: VisitAt, step: number): boolean {
    if (node === null) return this.index.passStart(visit.pass.id) <= step
    return (this.index.visitsOfNode.get(node) ?? []).some((from) => from.pass === visit.pass && from.step <= step)
  }

  private sumStrip(box: Box, visit: VisitAt, step: number): Strip | null {
    const sum = this.sumOf(box, visit)
    if (!sum) return null
    const done = this.summedAt(box, visit) <= step
    if (sum.terms.length < 2) {
      if (!sum.hooked) return null
      return {
        kind: 'hook', terms: [this.index.tensor(sum.total) ?? null],
        result: done ? (this.index.tensor(sum.entered) ?? null) : null, done, now: false, before: false,
      }
    }
    const terms = sum.terms.map((term) =>
      this.arrived(term.node ?? null, visit, step) ? (this.index.tensor(term.tensor) ?? null) : null,
    )
    const begun = terms.some((term) => term !== null)
    return {
      kind: 'sum', terms: begun ? terms : [],
      result: done ? (this.index.tensor(sum.hooked ? sum.entered : sum.total) ?? null) : null, done, now: false,
      before: false,
    }
  }

  private additionStrip(
    { at: { accumulation, pass }, step: at }: Dated<{ accumulation: Accumulation; pass: Pass }>, step: number,
  ): Strip {
    const sums = pass.visits[accumulation.visit]?.sums?.find((sum) => sum.input_nr === 0)
    const before = this.index.tensor(accumulation.before)
    const delta = this.index.tensor(accumulation.delta) ?? null
    const parts = sums && sums.terms.length > 1 && !sums.hooked
      ? sums.terms.map((term) => this.index.tensor(term.tensor) ?? null)
      : [delta]
    const terms = before || parts.length === 1 ? [before ?? null, ...parts] : parts
    return {
      kind: 'grad', terms, result: this.index.tensor(accumulation.after) ?? null, done: at <= step, now: false,
      before: before !== undefined || parts.length === 1,
    }
  }

  private trouble(life: Life, step: number): BoxPaint['trouble'] {
    if (this.raisedHere(life, step)) return 'raised'
    if (step >= life.forwardStep && this.isFirstNonFinite(life)) return 'nonfinite'
    if (this.isLeftOut(life, step) && !this.isReturned(life, step) && this.isConcerned(life)) return 'cut'
    return ''
  }

  private isLeftOut(life: Life, step: number): boolean {
    return life.box.kind === 'leaf' && life.box.node != null && life.grads.length === 0 && this.isOver(step)
  }

  /** Whether a leaf will at some step say that a pass returned its gradient. */
  isEverReturned(id: string): boolean {
    return this.isReturned(this.lives.get(id)!, Infinity)
  }

  private isReturned(life: Life, step: number): boolean {
    if (life.box.kind !== 'leaf' || life.box.node == null || life.grads.length > 0) return false
    return this.linksOut(life.box.id).some(
      (link) =>
        link.kind === 'data' &&
        this.crossings(link).some(
          (visit) =>
            visit.step > 0 &&
            visit.step <= step &&
            visit.pass.kind === 'grad' &&
            visit.visit.left[link.slot ?? -1] != null,
        ),
    )
  }

  private raisedHere(life: Life, step: number): boolean {
    const { failure, timeline, passes } = this.index.trace
    const { op, node } = life.box
    if (node != null && passes.some((pass) => pass.failed_node === node && this.index.passEnd(pass.id) <= step))
      return true
    return (
      failure != null &&
      step >= timeline.length &&
      ((op != null && failure.op === op) || (node != null && failure.node === node))
    )
  }

  private isFirstNonFinite(life: Life): boolean {
    const own = life.values[0]?.at
    if (!own || !troubled(own)) return false
    let sources = this.sources.get(life.box.id)
    if (!sources) {
      sources = (this.linksInto.get(life.box.id) ?? [])
        .map((link) => this.index.tensor(link.tensor))
        .filter((tensor): tensor is Tensor => tensor !== undefined)
      this.sources.set(life.box.id, sources)
    }
    return !sources.some(troubled)
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

  private isConcerned(life: Life): boolean {
    const { box } = life
    return this.index.trace.findings.some(
      (finding) =>
        finding.nodes?.includes(box.node ?? '') ||
        finding.tensors?.some((id) => this.index.identity(id) === this.index.identity(box.tensor ?? '')),
    )
  }

  private paintLink(link: DrawnLink, step: number, event: Step | undefined, currentBox: string | null): LinkPaint {
    const target = this.lives.get(link.target)!
    const isForward = step >= target.forwardStep
    const forward = !isForward ? 'waiting' : event?.kind === 'op' && currentBox === link.target ? 'current' : 'done'
    if (link.kind !== 'data') return { forward, gradient: 'absent', value: null }
    const visit = lastVisit(this.crossings(link), step)
    const value = visit ? (this.index.tensor(visit.visit.left[link.slot ?? -1]) ?? null) : null
    if (!visit || !value) return { forward, gradient: this.isOver(step) ? 'absent' : 'waiting', value: null }
    return { forward, gradient: this.isCrossing(link, visit, event) ? 'current' : 'passed', value }
  }

  /** Whether the current event is this gradient leaving its consumer, or being taken in by its producer. */
  private isCrossing(link: DrawnLink, visit: VisitAt, event: Step | undefined): boolean {
    if (!event || event.pass !== visit.pass.id) return false
    if (event.kind === 'visit') return event.visit === visit.index
    if (event.kind === 'reduce') return event.visit === visit.index && event.slot === link.slot
    const source = this.sheet.boxes.get(link.source)
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
    const seeds = this.seeds.get(box)
    if (!seeds) return null
    const shown = seeds.filter((seed) => seed.step <= step).at(-1)
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
      this.seeds.size > 1 ? 20 : 28,
    )
  }

  linksOut(id: string): readonly DrawnLink[] {
    return this.linksFrom.get(id) ?? []
  }
}

/** A call that has room beside a lane: without its module, then without its keywords, then cut. */
function shortCall(text: string, most: number): string {
  if (text.length <= most) return text
  const bare = text.replace(/^(torch\.)?(autograd\.)?/, '')
  const short = bare.length <= most ? bare : bare.replace(/, \w+=.*\)$/, ', …)')
  return short.length > most ? `${short.slice(0, most - 1)}…` : short
}

const RAISED: Strip = { kind: 'error', terms: [], result: null, done: true, now: false, before: false }

function troubled(tensor: Tensor): boolean {
  const { nan, inf } = nonFinite(tensor)
  return nan + inf > 0
}

function latest<T>(list: readonly Dated<T>[], step: number): T | undefined {
  let found: T | undefined
  for (const entry of list) if (entry.step <= step) found = entry.at
  return found
}

function lastVisit(visits: readonly VisitAt[], step: number): VisitAt | undefined {
  let found: VisitAt | undefined
  for (const visit of visits) if (visit.step <= step && visit.step > 0) found = visit
  return found
}
