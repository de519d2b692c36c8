// The runs that stand beside the one on screen: what was fetched of them, shared by their pictures and the panel that
// compares.

import * as api from '../../api/client'
import type { Comparison, Graph, Trace } from '../../api/types'
import type { Lang } from '../../core/state'
import type { TraceIndex } from '../../core/trace/trace-index'
import { Graphs } from './graphs'
import type { Parts } from './playground'

export interface Other {
  trace: Trace | null
  index: TraceIndex | null
  graph: Graph | null
  /** Its comparison with the run on screen. */
  told: Comparison | null
  problem: string | null
}

const NOTHING: Other = { trace: null, index: null, graph: null, told: null, problem: null }

class Others {
  private found: Readonly<Record<string, Other>> = $state.raw({})
  readonly graphs = new Graphs()

  of(id: string): Other {
    return this.found[id] ?? NOTHING
  }

  /** Lets go of all but these. */
  keep(ids: readonly string[]): void {
    this.found = Object.fromEntries(Object.entries(this.found).filter(([id]) => ids.includes(id)))
  }

  put(id: string, part: Partial<Other>): void {
    this.found = { ...this.found, [id]: { ...this.of(id), ...part } }
  }
}

export const others = new Others()

/** How many stand before the run on screen: the only one beside it does where it was run earlier. */
export function before({ run, view }: Parts<'run' | 'view'>): number {
  const { beside } = view.state
  const [own, other] = [run.trace?.id, beside[0]].map((id) => run.recent.findIndex((recent) => recent.id === id))
  return beside.length === 1 && own! >= 0 && own! < other! ? 1 : 0
}

/** The trace of a run; that of a lesson which has not been run on this server yet is made. */
export async function traceOf(
  id: string, lessons: readonly api.Lesson[], lang: Lang, signal: AbortSignal,
): Promise<Trace> {
  try {
    return await api.trace(id, lang, signal)
  } catch (error) {
    const lesson = lessons.find((candidate) => candidate.run === id)
    if (!lesson || !(error instanceof api.Problem) || error.status !== 404) throw error
    const made = await api.run(
      { code: lesson.code, device: 'cpu', seed: 0, check: [] }, { level: 'both', root: null, pass: null },
      lang, signal, () => undefined,
    )
    return made.trace
  }
}
