// The program in the editor, and how it is to be run.

import type { CheckKind, RunOrder } from '../../api/client'
import type { Program } from '../../api/types'
import { sameLiterals, type Literal } from '../../core/trace/literals'
import type { TraceIndex } from '../../core/trace/trace-index'
import { draftOf, keepDraft, remember, remembered } from './browser-storage'
import type { Run } from './run.svelte'

export class Draft {
  private readonly run: Run
  code = $state('')
  device = $state('cpu')
  seed = $state(0)
  /** What to work out once a program has ended: its gradients by differences, Jacobians. */
  checks: CheckKind[] = $state([])
  autoRun = $state(remembered('autoRun') === 'yes')
  /** Numbers of it are being turned, and what comes of them is on its way. */
  turning = $state(false)
  /** A pointer is on one of them: nothing may open or close under it. */
  held = $state(false)
  /** What belongs to one movement is undone in one step; 0 for an edit of its own. */
  stroke = $state(0)
  /** Whether the program has changed since it ran. */
  readonly edited: boolean = $derived.by(
    () => this.run.trace !== null && !this.turning && this.code !== this.run.trace.program.code,
  )
  /** What it was turned to last, where that failed; while more is turned, until that is told. */
  readonly failing: TraceIndex | null = $derived.by(() => {
    const { failing } = this.run
    return this.turning || this.held || this.code === failing?.trace.program.code ? failing : null
  })
  /** The numbers of it, each the same as in the program that ran; none where more than numbers has changed since. */
  readonly numbers: readonly Literal[] = $derived.by(() => sameLiterals(this.run.trace?.program.code ?? '', this.code))

  constructor(run: Run) {
    this.run = run
  }

  get order(): RunOrder {
    return { code: this.code, device: this.device, seed: this.seed, check: [...this.checks] }
  }

  setAutoRun(on: boolean): void {
    this.autoRun = on
    remember('autoRun', on ? 'yes' : 'no')
  }

  /** The program of a run, or what was made of it before a reload. */
  take(id: string, program: Program): void {
    this.code = draftOf(id) ?? program.code
    this.seed = program.seed ?? 0
    this.device = program.device ?? 'cpu'
  }

  /** What was written before a reload, when no run is on screen. */
  recall(): void {
    this.code = draftOf(null) ?? this.code
  }

  keep(): void {
    const { trace } = this.run
    keepDraft(trace?.id ?? null, this.code, trace?.program.code ?? '')
  }
}
