// What an embed needs besides where its program asks its reader: fetched for such programs alone.

import type { Trace } from '../api/types'
import QuestionCard from '../app/elements/QuestionCard.svelte'
import { Questions } from '../app/state/questions.svelte'
import { cutTrace } from '../core/trace/cut'

export class Asking {
  readonly Card = QuestionCard
  readonly questions = new Questions()

  /** What may be shown of a run. */
  seen(trace: Trace): Trace {
    return cutTrace(trace, this.questions.endOf(trace))
  }
}
