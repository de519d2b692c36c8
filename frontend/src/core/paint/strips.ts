// The strip under a box: gradients that meet in a sum, a hook's change, an addition to `.grad`, or an error.

import type { Accumulation, Box, Caught, Pass, Sum, Tensor } from '../../api/types'
import type { TraceIndex, VisitAt } from '../trace/trace-index'
import { stepOfGrads } from '../trace/visits'
import { lastVisit, type Dated, type Life, type Lives } from './lives'

export interface Strip {
  kind: 'sum' | 'grad' | 'hook' | 'error'
  /** For an error: what was raised. */
  raised?: Caught
  /** Terms that have arrived, in the engine's order; null is `None` or still missing. */
  terms: readonly (Tensor | null)[]
  /** What the terms became; null until it happened. */
  result: Tensor | null
  done: boolean
  /** Whether the first term is the `.grad` from before. */
  before: boolean
}

/** That of an exception; the others are made from it. */
const BARE: Strip = { kind: 'error', terms: [], result: null, done: true, before: false }

export class Strips {
  private readonly index: TraceIndex

  constructor(private readonly lives: Lives) {
    this.index = lives.index
  }

  /** Every strip it will ever have. */
  all(life: Life): Strip[] {
    const raised = this.lives.raisedHere(life, Infinity)
    if (raised) return [{ ...BARE, raised }]
    if (life.box.kind === 'leaf') return life.additions.map((addition) => this.additionStrip(addition, addition.step))
    return life.visits
      .map((visit) => this.sumStrip(life.box, visit, visit.step))
      .filter((strip): strip is Strip => strip !== null)
  }

  at(life: Life, step: number): Strip | null {
    const raised = this.lives.raisedHere(life, step)
    if (raised) return { ...BARE, raised }
    if (life.box.kind === 'leaf') {
      if (life.box.node == null) return null
      const pending = this.sumBeforeAddition(life, step)
      if (pending) return pending
      step = stepOfGrads(this.index, this.lives.sheet.graph, step)
      const reset = life.grads.findLast((grad) => grad.step <= step)
      const addition = life.additions.findLast((candidate) => candidate.step <= step)
      if (!addition || reset!.step > addition.step) {
        return { ...BARE, kind: 'grad', done: false }
      }
      return this.additionStrip(addition, step)
    }
    const visits = life.visits
    const shown =
      visits.find((visit) => visit.step > step && this.arrivals(life.box, visit, step) > 0) ??
      lastVisit(visits, step) ??
      visits[0]
    return shown ? this.sumStrip(life.box, shown, this.lives.isLeft(shown.pass, step) ? 0 : step) : null
  }

  hasSum(box: Box, visit: VisitAt): boolean {
    return this.sumOf(box, visit) !== undefined
  }

  summedAt(box: Box, visit: VisitAt): number {
    return this.index.sumStep(visit.pass.id, visit.index, box.output_nr ?? 0) || visit.step
  }

  private sumOf(box: Box, visit: VisitAt): Sum | undefined {
    return visit.visit.sums?.find((sum) => sum.input_nr === (box.kind === 'leaf' ? 0 : (box.output_nr ?? 0)))
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
    const kind = sum.terms.length > 1 ? 'sum' : 'hook'
    if (kind === 'hook' && !sum.hooked) return null
    const done = this.summedAt(box, visit) <= step
    const terms = sum.terms.map((term) =>
      this.arrived(term.node ?? null, visit, step) ? (this.index.tensor(term.tensor) ?? null) : null,
    )
    const begun = terms.some((term) => term !== null)
    return {
      ...BARE, kind, terms: begun ? terms : [],
      result: done ? (this.index.tensor(sum.hooked ? sum.entered : sum.total) ?? null) : null, done,
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
      kind: 'grad', terms, result: this.index.tensor(accumulation.after) ?? null, done: at <= step,
      before: before !== undefined || parts.length === 1,
    }
  }
}
