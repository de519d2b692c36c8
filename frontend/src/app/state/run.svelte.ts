// The run on screen: its trace, the graph made of it, and what is looked up in both.

import type { Fixes, Graph, Trace, Trial } from '../../api/types'
import { cutGraph, cutTrace } from '../../core/trace/cut'
import { applyEdits } from '../../core/trace/edits'
import { History } from '../../core/trace/history'
import { boxFinder } from '../../core/trace/naming'
import { indexOf, linesOfGraph, type TraceIndex } from '../../core/trace/trace-index'
import { drawnUnrecorded, unrecorded } from '../../core/trace/unrecorded'
import { recentRuns, type Recent } from './browser-storage'
import type { Questions } from './questions.svelte'

/** What is drawn: a trace and the graph made of it always change together. */
export interface Shown {
  trace: Trace
  graph: Graph
}

export class Run {
  readonly questions: Questions
  /** Pictures that end at a question: each is the same one as long as the question is. */
  private readonly cuts = new WeakMap<Shown, Shown>()
  /** What came of the program. What the page shows of it ends at the first open question. */
  shown: Shown | null = $state.raw(null)
  /** What the program was turned to last, where that failed: it is told at its line as long as the draft is that, and
   *  the last good picture stays. */
  failing: TraceIndex | null = $state.raw(null)
  /** The last picture, where the program on show came to nothing that could be drawn. */
  stale: Shown | null = $state.raw(null)
  /** What came of the fixes of its findings, as far as the server has tried them. */
  fixes: Fixes | null = $state.raw(null)
  /** Runs of this tab, newest first. */
  recent: readonly Recent[] = $state.raw(recentRuns())

  /** All of the run, what is not shown yet too. */
  readonly whole: Trace | null = $derived(this.shown?.trace ?? null)
  /** What the page shows of it, all in one frame. */
  readonly seen: Shown | null = $derived.by(() => this.until(this.shown))
  readonly trace: Trace | null = $derived(this.seen?.trace ?? null)
  /** Whether an open question ends it: what is not in it may come yet. */
  readonly isCut: boolean = $derived(this.trace !== this.whole)
  readonly graph: Graph | null = $derived(this.seen?.graph ?? null)
  readonly index: TraceIndex | null = $derived(this.trace ? indexOf(this.trace) : null)
  readonly history: History | null = $derived(this.index ? new History(this.index) : null)
  readonly find = $derived(this.graph && this.index ? boxFinder(this.graph, this.index) : null)
  readonly lines = $derived(this.graph ? linesOfGraph(this.graph) : null)
  readonly total: number = $derived(this.trace?.timeline.length ?? 0)

  constructor(questions: Questions) {
    this.questions = questions
  }

  /** A picture as it was before the first open question. */
  private until(shown: Shown | null): Shown | null {
    if (!shown) return null
    const before = cutTrace(shown.trace, this.questions.endOf(shown.trace))
    if (before === shown.trace) return shown
    const hides = this.questions.hidesFlow(before)
    const trace = hides ? unrecorded(before) : before
    const last = this.cuts.get(shown)
    if (last?.trace === trace) return last
    const graph = cutGraph(shown.graph, before)
    const cut = { trace, graph: hides ? drawnUnrecorded(graph, trace) : graph }
    this.cuts.set(shown, cut)
    return cut
  }

  /** Whether nothing on the page may tell what autograd recorded. */
  get hidesFlow(): boolean {
    return this.trace !== null && this.questions.hidesFlow(this.trace)
  }

  /** How many steps of a run the page may show. */
  endOf(trace: Trace): number {
    return this.questions.endOf(trace)
  }

  /** Whether the open question is which line fails. */
  get asksForLine(): boolean {
    return this.trace !== null && this.questions.openOf(this.trace)?.kind === 'line'
  }

  /** What came of the fix of a finding; null until it was tried. */
  trialOf(at: number): Trial | null {
    const { trials = [], run } = this.fixes ?? {}
    return (run === this.trace?.id && trials.find((trial) => trial.finding === at)) || null
  }

  /** The program that ran, with the fix of a finding in it; null unless that was run and mends. */
  mendedBy(at: number): string | null {
    const { fix, is_experiment } = this.trace?.findings[at] ?? {}
    const mends = this.trialOf(at)?.verdict === 'mends'
    return this.trace && fix && mends && !is_experiment ? applyEdits(this.trace.program.code, fix) : null
  }

  /** Whether the fix of a finding waits to be tried. */
  isTrying(at: number): boolean {
    const { done, run } = this.fixes ?? {}
    return run === this.trace?.id && done === false && !!this.trace?.findings[at]?.fix && !this.trialOf(at)
  }

  /** Whether there is something to tell of a line that has no box: what it did or changed, or the devices it speaks
   *  of. */
  isTelling(line: number): boolean {
    const { ops = [], updates = [], program } = this.trace ?? {}
    return (
      updates.some(({ span }) => span?.line === line) ||
      ops.some((op) => op.span?.line === line && (op.outputs.length > 0 || op.raised)) ||
      /cuda|CUDA|cudnn|[a-z]Tensor\s*\(/.test(program?.code.split('\n')[line - 1] ?? '')
    )
  }
}
