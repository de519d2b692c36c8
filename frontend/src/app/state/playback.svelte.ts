// Which step of the run is shown, and the walk through all of them.

import { remember, remembered } from './browser-storage'
import type { PageView } from './view.svelte'
import type { Run } from './run.svelte'

/** A run is played in at most 12 s; a short one takes 0.7 s for each step. */
const WHOLE_MS = 12000
const SLOWEST_MS = 700
const FRAME_MS = 16
/** Shorter steps are passed over where the page cannot show each in its time. */
const FLEETING_MS = 100

const SPEEDS = [0.5, 1, 2, 4] as const
export type Speed = (typeof SPEEDS)[number]

export class Playback {
  private readonly run: Run
  private readonly view: PageView
  private readonly striding = import('../../core/trace/strides')
  /** The same once it is here. */
  private strides: Awaited<typeof this.striding> | null = $state.raw(null)
  private timer: ReturnType<typeof setTimeout> | undefined
  playing = $state(false)
  /** How many times as fast as it would be. */
  speed: Speed = $state(SPEEDS.find((speed) => String(speed) === remembered('speed')) ?? 1)
  /** Lines at which playing halts; they belong to the program that ran. */
  private halts: { code: string; lines: ReadonlySet<number> } = $state.raw({ code: '', lines: new Set() })

  readonly haltLines: ReadonlySet<number> = $derived.by(() =>
    this.halts.code === this.run.trace?.program.code ? this.halts.lines : new Set(),
  )
  /** Steps at which playing halts. */
  readonly haltSteps: readonly number[] = $derived.by(() =>
    (this.run.index && this.strides?.stepsOn(this.run.index, this.haltLines)) ?? [],
  )

  constructor(run: Run, view: PageView) {
    this.run = run
    this.view = view
    void this.striding.then((strides) => (this.strides = strides))
  }

  get step(): number {
    return this.view.state.step
  }

  goTo(step: number): void {
    const bounded = Math.max(0, Math.min(this.run.total, Math.round(step)))
    if (bounded === this.step) return
    this.view.findingOpen = null
    this.view.change({ step: bounded })
  }

  /** Goes to a step that the reader asks for: what plays stops. */
  jump(step: number): void {
    this.play(false)
    this.goTo(step)
  }

  /** Strides from here as the reader asks. */
  async stride(way: 'on' | 'back' | 'over' | 'overBack' | 'out'): Promise<void> {
    const strides = await this.striding
    if (this.run.index) this.jump(strides[way](this.run.index, this.step))
  }

  /** Goes to where a line runs next, or for the first time after it ran for the last. */
  async jumpToLine(...lines: number[]): Promise<void> {
    const steps = await this.stepsOf(...lines)
    const next = steps.find((step) => step > this.step) ?? steps[0]
    if (next !== undefined) this.jump(next)
  }

  /** The steps of lines that the reader asks for; where there are none the inspector says so. */
  private async stepsOf(...lines: number[]): Promise<readonly number[]> {
    const { stepsOn } = await this.striding
    const { index } = this.run
    const [line] = lines
    const steps = index ? stepsOn(index, new Set(lines)) : []
    if (index && line !== undefined && steps.length === 0) this.view.select({ kind: 'line', line })
    return steps
  }

  /** Takes the next speed, after the fastest the slowest. */
  changeSpeed(): void {
    this.speed = SPEEDS[(SPEEDS.indexOf(this.speed) + 1) % SPEEDS.length]!
    remember('speed', String(this.speed))
  }

  /** Halts at a line that runs from now on, or no longer. */
  async toggleHalt(line: number): Promise<void> {
    if ((await this.stepsOf(line)).length === 0) return
    const { code } = this.run.trace!.program
    const lines = new Set(this.haltLines)
    if (!lines.delete(line)) lines.add(line)
    this.halts = { code, lines }
  }

  play(on: boolean): void {
    clearTimeout(this.timer)
    const { total } = this.run
    this.playing = on && total > 0
    if (!this.playing) return
    if (this.step >= total) this.goTo(0)
    const wait = 200 / this.speed
    let before = performance.now() + wait
    let due = 0
    const tick = (): void => {
      if (!this.playing) return
      const eachMs = Math.min(SLOWEST_MS, WHOLE_MS / total) / this.speed
      const now = performance.now()
      due += eachMs < FLEETING_MS ? (now - before) / eachMs : 1
      before = now
      const stride = Math.max(1, Math.floor(due))
      due -= stride
      const next = this.step + stride
      const whole = (this.run.index && this.strides?.wholeOf(this.run.index, next)) ?? next
      const halt = this.haltSteps.find((step) => step > this.step && step <= whole)
      this.goTo(halt ?? whole)
      if (halt !== undefined || this.step >= this.run.total) this.playing = false
      else this.timer = setTimeout(tick, Math.max(eachMs, FRAME_MS))
    }
    this.timer = setTimeout(tick, wait)
  }
}
