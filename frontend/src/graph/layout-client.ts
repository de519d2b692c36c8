// Asks for layouts: a small graph's is made at once, a large one's by a worker. An answer that a newer question has
// overtaken is dropped.

import type { LayoutInput } from '../core/layout/geometry'
import type { Measure } from '../core/paint/measure'
import { layoutInput } from '../core/paint/sizes'
import type { View } from '../core/paint/view'
import { largest } from './steady'
import LayoutWorker from './layout.worker?worker'
import type { Answer, Layouts } from './layout-source'

/** Boxes and links that are laid out within a few milliseconds; to a worker and back costs such a graph a frame. */
const SMALL = 200

export class LayoutClient implements Layouts {
  private readonly here = import('../core/layout/layout')
  /** Started for the first large graph; null where none can be. */
  private worker: Worker | null | undefined
  private latest = 0
  private waiting: { id: number; give: (answer: Answer) => void } | null = null
  private input: LayoutInput | null = null
  /** The latest layout, and what it was made of. */
  private kept: { input: LayoutInput; answer: Answer; measure: Measure } | null = null

  async of(view: View, expanded: ReadonlySet<string> | null): Promise<Answer | null> {
    const { measure } = view
    const wanted = layoutInput(measure, expanded)
    const { words, spacious } = this.kept?.measure ?? {}
    const isAlike = words === measure.words && spacious === measure.spacious
    const steady = this.kept && isAlike ? largest(this.kept.input, wanted) : null
    if (this.kept && steady === this.kept.input) {
      this.drop()
      return this.kept.answer
    }
    const input = steady ?? wanted
    const answer = await this.ask(input)
    if (answer && 'layout' in answer) this.kept = { input, answer, measure }
    return answer
  }

  /** Whatever was asked before is not wanted any more. */
  private drop(): void {
    this.latest += 1
    this.waiting?.give({ id: -1, failure: '' })
    this.waiting = null
  }

  /** The layout of the newest input, a failure, or null when a newer question came meanwhile. */
  ask(input: LayoutInput): Promise<Answer | null> {
    const id = ++this.latest
    this.input = input
    this.waiting?.give({ id: -1, failure: '' })
    return new Promise((resolve) => {
      this.waiting = { id, give: (answer) => resolve(answer.id === this.latest ? answer : null) }
      const worker = input.boxes.length + input.links.length > SMALL ? this.started() : null
      if (worker) worker.postMessage({ id, input })
      else void this.layOut(id, input)
    })
  }

  close(): void {
    this.worker?.terminate()
    this.worker = undefined
    this.waiting = null
  }

  private started(): Worker | null {
    if (this.worker !== undefined) return this.worker
    try {
      this.worker = new LayoutWorker()
      this.worker.onmessage = (event: MessageEvent<Answer>) => this.receive(event.data)
      this.worker.onerror = () => this.loseWorker()
    } catch {
      // A sandboxed frame (origin null) may not start workers: the page's own thread lays out instead.
      this.worker = null
    }
    return this.worker
  }

  private receive(answer: Answer): void {
    if (this.waiting?.id !== answer.id) return
    const { give } = this.waiting
    this.waiting = null
    give(answer)
  }

  private loseWorker(): void {
    this.worker?.terminate()
    this.worker = null
    if (this.waiting && this.input) void this.layOut(this.waiting.id, this.input)
  }

  private async layOut(id: number, input: LayoutInput): Promise<void> {
    try {
      const { layout } = await this.here
      this.receive({ id, layout: layout(input) })
    } catch (error) {
      this.receive({ id, failure: error instanceof Error ? error.message : String(error) })
    }
  }
}
