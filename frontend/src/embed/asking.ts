// What an embed needs besides where its program asks its reader: fetched for such programs alone.

import type { Graph, Trace } from '../api/types'
import QuestionCard from '../app/elements/QuestionCard.svelte'
import { Questions } from '../app/state/questions.svelte'
import { cutTrace } from '../core/trace/cut'
import { drawnUnrecorded, unrecorded } from '../core/trace/unrecorded'

export class Asking {
  readonly Card = QuestionCard
  readonly questions = new Questions()

  /** What may be shown of a run. */
  seen(trace: Trace): Trace {
    const before = cutTrace(trace, this.questions.endOf(trace))
    return this.questions.hidesFlow(before) ? unrecorded(before) : before
  }

  /** What may be shown of its graph. */
  drawn(graph: Graph, seen: Trace): Graph {
    return this.questions.hidesFlow(seen) ? drawnUnrecorded(graph, seen) : graph
  }
}
