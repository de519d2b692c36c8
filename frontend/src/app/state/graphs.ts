// Graphs of runs by what was chosen to draw; each is fetched once.

import * as api from '../../api/client'
import type { Graph, Trace } from '../../api/types'
import type { Lang, ViewState } from '../../core/state'
import { passOfStep } from '../../core/trace/trace-index'

/** Graphs that are held: while a number is turned, each value is a run of its own. */
const MOST = 48

export class Graphs {
  private readonly known = new Map<string, Graph>()
  private expected: { key: string; graph: Promise<Graph> } | null = null

  /** Asks for what will probably be wanted next. */
  expect(run: string, choice: api.GraphChoice, lang: Lang, signal: AbortSignal): void {
    const key = keyOf(run, choice)
    if (this.known.has(key)) return
    const graph = api.graph(run, choice, lang, signal)
    graph.catch(() => undefined) // told to whoever wants it
    this.expected = { key, graph }
  }

  keep(run: string, choice: api.GraphChoice, graph: Graph): void {
    this.hold(keyOf(run, choice), graph)
  }

  async of(run: string, choice: api.GraphChoice, lang: Lang, signal?: AbortSignal): Promise<Graph> {
    const key = keyOf(run, choice)
    let found = this.known.get(key)
    if (!found) {
      const expected = this.expected?.key === key ? this.expected.graph : null
      this.expected = null
      found = await (expected ?? api.graph(run, choice, lang, signal))
      this.hold(key, found)
    }
    return found
  }

  private hold(key: string, graph: Graph): void {
    this.known.set(key, graph)
    for (const oldest of this.known.keys()) if (this.known.size > MOST) this.known.delete(oldest)
  }
}

function keyOf(run: string, { level, root, pass, alone }: api.GraphChoice): string {
  return `${run} ${level} ${root ?? ''} ${pass ?? ''} ${alone ?? false}`
}

/** What to draw at a step: what the reader chose, or else the pass the step belongs to. */
export function choiceAt(
  trace: Trace | null, { level, root, pass }: Pick<ViewState, 'level' | 'root' | 'pass'>, step: number,
): api.GraphChoice {
  return { level, root, pass: pass ?? (trace && !root ? passOfStep(trace, step) : null), alone: pass !== null }
}
