// The life of every box of one view: all that will ever be shown on it, dated.

import type { Accumulation, Box, Caught, Pass, Step, Tensor } from '../../api/types'
import type { DrawnLink, Sheet } from '../layout/fold'
import { nodeOfStep } from '../trace/steps'
import { push, type TraceIndex, type VisitAt } from '../trace/trace-index'

export interface Dated<T> {
  step: number
  at: T
}

/** Everything that will ever be shown on one box, dated. */
export interface Life {
  box: Box
  forwardStep: number
  values: Dated<Tensor>[]
  visits: readonly VisitAt[]
  /** For a leaf with a `.grad`. */
  grads: Dated<Tensor | null>[]
  /** What the passes shown added to it. */
  additions: Dated<{ accumulation: Accumulation; pass: Pass }>[]
}

export interface Seed {
  pass: Pass
  root: number
  step: number
}

/** The lives of the boxes of a sheet, and of the passes that are shown on it. */
export class Lives {
  readonly byBox = new Map<string, Life>()
  readonly seeds = new Map<string, Seed[]>()
  readonly linksInto = new Map<string, DrawnLink[]>()
  private readonly shown: ReadonlySet<string>
  /** In the order they ran. */
  private readonly passes: readonly Pass[]
  private readonly boxOfNode = new Map<string, string[]>()
  private readonly boxWith = new Map<string, string>()
  private readonly boxOfOp = new Map<string, string>()
  private readonly linksFrom = new Map<string, DrawnLink[]>()

  constructor(
    readonly index: TraceIndex,
    readonly sheet: Sheet,
  ) {
    this.shown = new Set(sheet.graph.passes)
    this.passes = index.trace.passes.filter((pass) => this.shows(pass))
    for (const link of sheet.links) {
      push(this.linksFrom, link.source, link)
      push(this.linksInto, link.target, link)
    }
    for (const box of sheet.boxes.values()) {
      if (box.node != null) push(this.boxOfNode, box.node, box.id)
      for (const op of [box.op, ...(box.ops ?? [])])
        if (op != null && !this.boxOfOp.has(op)) this.boxOfOp.set(op, box.id)
      const inside = [...(box.folded ?? []), ...(box.parameters ?? []).map(({ node }) => node)]
      for (const node of inside) if (node != null && !this.boxWith.has(node)) this.boxWith.set(node, box.id)
    }
    for (const box of sheet.boxes.values()) this.byBox.set(box.id, this.life(box))
    this.readSeeds()
  }

  /** Whether a pass is among those shown. */
  shows(pass: Pass): boolean {
    return this.shown.size === 0 || this.shown.has(pass.id)
  }

  /** The boxes of a node: one for each of its outputs. */
  boxesOf(node: string): readonly string[] {
    return this.boxOfNode.get(node) ?? []
  }

  boxOf(node: string, inputNr: number): string | undefined {
    const boxes = this.boxOfNode.get(node)
    return boxes?.find((id) => (this.sheet.boxes.get(id)?.output_nr ?? 0) === inputNr) ?? boxes?.[0]
  }

  currentBox(event: Step | undefined): string | null {
    if (event?.op != null) return this.boxOfOp.get(event.op) ?? null
    const pass = this.index.passes.get(event?.pass ?? '')
    if (!event || !pass || !this.shows(pass)) return null
    const inputNr = event.input_nr ?? pass.roots[event.root ?? -1]?.input_nr ?? 0
    return this.boxOf(nodeOfStep(this.index, event)?.id ?? '', inputNr) ?? null
  }

  /** The box inside which the node of an event is drawn, where it has none of its own: that of a layer for its weights
   *  and their transposes. */
  boxAround(event: Step | undefined): string | null {
    const node = nodeOfStep(this.index, event)?.id ?? ''
    return this.boxOfNode.has(node) ? null : (this.boxWith.get(node) ?? null)
  }

  /** Where a step of a module that no box shows is on the way: to the next box, or from the last one of its call. */
  boxNear(step: number): string | null {
    let event = this.index.event(step)
    if (!event?.call && !this.index.op(event?.op)?.module) return null
    const [by, end] = event!.kind === 'call_end' ? [-1, 'call'] : [1, 'call_end']
    let box: string | null = null
    while (!box && event && event.kind !== end) {
      box = this.currentBox(event)
      event = this.index.event((step += by))
    }
    return box
  }

  linksOut(id: string): readonly DrawnLink[] {
    return this.linksFrom.get(id) ?? []
  }

  crossings(link: DrawnLink): readonly VisitAt[] {
    if (link.node == null || link.slot == null || link.kind !== 'data') return []
    return (this.index.visitsOfNode.get(link.node) ?? []).filter((visit) => this.shows(visit.pass))
  }

  entered(box: Box, visit: VisitAt): Tensor | null {
    return this.index.tensor(visit.visit.entered[box.output_nr ?? 0]) ?? null
  }

  /** The first step at which gradient came to a box; infinite for one it never comes to. */
  reached({ box, additions, visits }: Life): number {
    const steps = (box.kind === 'leaf' ? additions : visits).map(({ step }) => step)
    return Math.min(...steps.filter((step) => step > 0))
  }

  /** What was raised at a box: what ended the program, or what it caught. */
  raisedHere({ box: { op, node } }: Life, step: number): Caught | null {
    const { failure, timeline, passes } = this.index.trace
    const pass = node != null && passes.find((pass) => pass.failed_node === node && this.index.passEnd(pass.id) <= step)
    if (pass) return pass.caught ?? failure ?? { type: 'Error', message: '' }
    const ended = step >= timeline.length ? failure : null
    return ended && ((op != null && ended.op === op) || (node != null && ended.node === node)) ? ended : null
  }

  /** Whether a leaf was updated since an op that is drawn took its value. */
  isUpdated({ box, values: [, ...updates] }: Life, step: number): boolean {
    const taken = (): number[] => this.linksOut(box.id).map(({ target }) => this.byBox.get(target)!.forwardStep)
    return updates.some((update) => update.step <= step && update.step > Math.min(...taken()))
  }

  /** Whether the passes shown have all ended, so that what has not come will not come. One that raised broke off. */
  isOver(step: number): boolean {
    const { passes } = this
    return passes.length > 0 && !passes.at(-1)!.failed && passes.every((pass) => this.index.passEnd(pass.id) <= step)
  }

  /** The latest of some visits, if no layer's pass has begun since its own: gradients of two passes side by side would
   *  read as those of one. */
  latest(visits: readonly VisitAt[], step: number): VisitAt | undefined {
    const visit = lastVisit(visits, step)
    return visit && !this.isLeft(visit.pass, step) ? visit : undefined
  }

  /** Whether a later one of the passes shown has begun. Those of other ranks run beside it. */
  isLeft(pass: Pass, step: number): boolean {
    return pass !== this.passes.findLast(({ id, rank }) => rank === pass.rank && this.index.passStart(id) <= step)
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
        if (this.shows(pass)) life.additions.push({ step, at: { accumulation, pass } })
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
}

export function latest<T>(list: readonly Dated<T>[], step: number): T | undefined {
  return list.findLast((entry) => entry.step <= step)?.at
}

export function lastVisit(visits: readonly VisitAt[], step: number): VisitAt | undefined {
  return visits.findLast((visit) => visit.step <= step && visit.step > 0)
}
