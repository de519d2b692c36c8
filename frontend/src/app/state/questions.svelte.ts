// Which questions of programs were answered in this browser; what comes after the first open one is not shown.

import type { Question, Trace } from '../../api/types'
import { askable, keyOf, withoutNumbers } from '../../core/trace/questions'
import { remember, remembered } from './browser-storage'
import type { Room } from './room.svelte'

/** How a question was closed: found, or given up. */
type Closed = 'found' | 'given up'

const MOST = 1000
const ANSWERED = 'answered'

function kept(): Readonly<Record<string, Closed>> {
  try {
    return (JSON.parse(remembered(ANSWERED) ?? '{}') ?? {}) as Record<string, Closed>
  } catch {
    return {}
  }
}

export class Questions {
  private answered: Readonly<Record<string, Closed>> = $state.raw(kept())
  /** Whether questions are asked at all. */
  private on = $state(remembered('questions') !== 'off')
  /** A program that is shown whole, whatever it asks and whatever its numbers are: the finished example of a first
   *  visit. */
  resting: string | null = $state(null)
  /** The one that was closed last, told until the next is. */
  private latest: { run: string; question: Question } | null = $state.raw(null)
  /** The class that answers together. */
  room: Room | null = $state.raw(null)
  /** Boxes that the reader has chosen as an answer: lit on the graph. */
  drawn: ReadonlySet<string> | null = $state.raw(null)

  /** Whether what a program asks is asked. */
  asks({ program }: Trace): boolean {
    return this.on && withoutNumbers(program.code) !== this.resting
  }

  closed(trace: Trace, question: Question): Closed | undefined {
    return this.answered[keyOf(trace, question)]
  }

  /** The first question that is still open. */
  openOf(trace: Trace): Question | undefined {
    return this.asks(trace) ? askable(trace).find((question) => !this.closed(trace, question)) : undefined
  }

  /** How many steps of a run may be shown. */
  endOf(trace: Trace): number {
    const open = this.asks(trace) ? askable(trace).filter((question) => !this.closed(trace, question)) : []
    return Math.min(trace.timeline.length, ...open.map(({ step }) => step))
  }

  /** Whether nothing more may tell what autograd recorded: where a gradient flows is asked still. */
  hidesFlow(trace: Trace): boolean {
    const isOpen = (question: Question): boolean => question.kind === 'flow' && !this.closed(trace, question)
    return this.asks(trace) && askable(trace).some(isOpen)
  }

  /** The question of a run that was closed last, while it is. */
  lastOf(trace: Trace): Question | null {
    const { run, question } = this.latest ?? {}
    return question && run === trace.id && this.closed(trace, question) ? question : null
  }

  close(trace: Trace, question: Question, how: Closed): void {
    this.latest = { run: trace.id, question }
    const all = Object.entries({ ...this.answered, [keyOf(trace, question)]: how }).slice(-MOST)
    this.keep(Object.fromEntries(all))
  }

  /** Asks the questions of a program once more. */
  again(trace: Trace): void {
    const keys = new Set(askable(trace).map((question) => keyOf(trace, question)))
    this.keep(Object.fromEntries(Object.entries(this.answered).filter(([key]) => !keys.has(key))))
  }

  turn(on: boolean): void {
    this.on = on
    this.resting = null
    remember('questions', on ? 'on' : 'off')
  }

  /** All that is kept of answers, as JSON for a file. */
  get progress(): string {
    return JSON.stringify(this.answered, null, 1)
  }

  private keep(answered: Readonly<Record<string, Closed>>): void {
    this.answered = answered
    remember(ANSWERED, JSON.stringify(answered))
  }
}
