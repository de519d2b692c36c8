// Which step of the run is shown, and the walk through all of them.

import type { PageView } from './view.svelte'
import type { Run } from './run.svelte'

/** A run is played in at most 12 s; a short one takes 0.7 s for each step. */
const WHOLE_MS = 12000
const SLOWEST_MS = 700
const FRAME_MS = 16

export class Playback {
  private readonly run: Run
  private readonly view: PageView
  private timer: ReturnType<typeof setTimeout> | undefined
  playing = $state(false)

  constructor(run: Run, view: PageView) {
    this.run = run
    this.view = view
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

  play(on: boolean): void {
    clearTimeout(this.timer)
    const { total } = this.run
    this.playing = on && total > 0
    if (!this.playing) return
    if (this.step >= total) this.goTo(0)
    const eachMs = Math.min(SLOWEST_MS, WHOLE_MS / total)
    const stride = Math.max(1, Math.ceil(FRAME_MS / eachMs))
    const tick = (): void => {
      if (!this.playing) return
      this.goTo(this.step + stride)
      if (this.step >= this.run.total) this.playing = false
      else this.timer = setTimeout(tick, Math.max(eachMs * stride, FRAME_MS))
    }
    this.timer = setTimeout(tick, Math.min(eachMs, 200))
  }
}
