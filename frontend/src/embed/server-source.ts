// The run of an embed by its server, which also says where everything goes on graphs as they open. The layout code is
// fetched for the first group that is opened or folded, or where the server did not answer.

import * as api from '../api/client'
import type { Graph, Trace } from '../api/types'
import type { Layout } from '../core/layout/geometry'
import type { Lang } from '../core/state'
import type { View } from '../core/paint/view'
import { loadWords } from '../core/words/lexicon'
import type { Words } from '../core/words/sentences'
import type { Answer, Layouts } from '../graph/layout-source'
import type { Source } from './source'

export class ServerSource implements Source {
  private readonly graphs = new Map<string, Graph>()
  private readonly placed = new Map<string, Promise<Layout | null>>()
  private readonly choices = new WeakMap<Graph, api.GraphChoice>()
  private lang: Lang = 'en'
  private own: Promise<Layouts> | null = null
  private latest = 0

  constructor(private readonly run: string) {}

  trace(lang: Lang): Promise<Trace> {
    return api.trace(this.run, lang)
  }

  words(lang: Lang, titles: boolean): Promise<Words> {
    return loadWords(lang, titles)
  }

  /** The graph of a pass. Where its parts go is asked for at the same time; that differs with the language of what is
   *  measured. */
  async graph(choice: api.GraphChoice, lang: Lang): Promise<Graph> {
    this.lang = lang
    void this.places(choice)
    const key = `${choice.pass} ${choice.until}`
    const graph = this.graphs.get(key) ?? (await api.graph(this.run, choice, lang))
    this.graphs.set(key, graph)
    this.choices.set(graph, choice)
    return graph
  }

  async of(view: View, expanded: ReadonlySet<string> | null): Promise<Answer | null> {
    const id = ++this.latest
    const choice = this.choices.get(view.sheet.graph)
    const layout = choice && !expanded ? await this.places(choice) : null
    if (id !== this.latest) return null
    if (layout) return { id, layout }
    try {
      this.own ??= import('../graph/layout-client').then(({ LayoutClient }) => new LayoutClient())
      return await (await this.own).of(view, expanded)
    } catch (error) {
      return { id, failure: String(error) }
    }
  }

  settle(_graph: Graph, _before: unknown, wanted: ReadonlySet<string>): ReadonlySet<string> {
    return wanted
  }

  close(): void {
    void this.own?.then((own) => own.close())
  }

  /** Null where the server gave none. */
  private places(choice: api.GraphChoice): Promise<Layout | null> {
    const key = `${choice.pass} ${choice.until} ${this.lang}`
    let placed = this.placed.get(key)
    if (!placed) this.placed.set(key, (placed = api.layout(this.run, choice, this.lang).catch(() => null)))
    return placed
  }
}
