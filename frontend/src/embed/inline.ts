// A run that stands in the page itself: nothing is fetched, so it plays from a file and in a frame without an origin.

import { Problem, type GraphChoice } from '../api/client'
import type { Graph, Trace } from '../api/types'
import { nearest } from '../core/layout/foldings'
import type { Layout } from '../core/layout/geometry'
import type { View } from '../core/paint/view'
import type { Lang, Selection } from '../core/state'
import { wordsOf, type Words } from '../core/words/sentences'
import type { Answer } from '../graph/layout-source'
import en from '../../words/en.json'
import zh from '../../words/zh.json'
import type { Source } from './source'

export const FORMAT = 'gradgraph.player/1'

/** The graph of one pass, with where everything on it goes: as it opens, then as groups are opened and folded. */
interface Part {
  pass?: string | null
  /** Steps after which a question ends the run; absent for all of it. */
  until?: number | null
  graph: Graph
  layouts: Readonly<Record<Lang, readonly Layout[]>>
}

/** What server/standalone.py puts into the file. */
export interface Inline {
  format: string
  trace: Trace
  parts: readonly Part[]
  /** Titles of the findings that are more than notes. */
  titles: Readonly<Record<Lang, Readonly<Record<string, string>>>>
  /** How it opens, in the words of an embed's address. */
  opens: Readonly<Record<string, string>>
  selection?: Selection | null
}

export class InlineSource implements Source {
  /** By the groups of their graphs: a graph of which a question hides something still has them. */
  private readonly partOf: WeakMap<Graph['groups'], Part>
  private readonly spoken: Readonly<Record<Lang, Words>>

  constructor(private readonly given: Inline) {
    this.partOf = new WeakMap(given.parts.map((part) => [part.graph.groups, part]))
    const { titles } = given
    this.spoken = { en: wordsOf({ ...en, ...titles.en }), zh: wordsOf({ ...zh, ...titles.zh }) }
  }

  trace(): Promise<Trace> {
    return Promise.resolve(this.given.trace)
  }

  graph({ pass, until }: GraphChoice, lang: Lang): Promise<Graph> {
    const parts = this.given.parts.filter((one) => (one.until ?? undefined) === until)
    const part = parts.length === 1 ? parts[0] : parts.find((one) => (one.pass ?? null) === pass)
    if (part) return Promise.resolve(part.graph)
    return Promise.reject(new Problem('refused', 404, this.spoken[lang]('embed.pass_left_out', { n: parts.length })))
  }

  words(lang: Lang): Promise<Words> {
    return Promise.resolve(this.spoken[lang])
  }

  of(view: View, expanded: ReadonlySet<string> | null): Promise<Answer> {
    const layouts = this.layouts(view.sheet.graph, view.measure.words === this.spoken.zh ? 'zh' : 'en')
    const layout = layouts[expanded ? nearest(layouts.map(({ open }) => open), expanded, expanded) : 0]
    return Promise.resolve(layout ? { id: 0, layout } : { id: 0, failure: 'no layout' })
  }

  /** Of what the file has, the nearest in which the groups that were pressed stand as wanted. */
  settle(
    graph: Graph, before: ReadonlySet<string> | null, wanted: ReadonlySet<string>,
  ): ReadonlySet<string> | null {
    const choices = this.layouts(graph, 'en').map(({ open }) => open)
    const found = choices[nearest(choices, before ?? new Set(choices[0]), wanted)]
    return found ? new Set(found) : null
  }

  close(): void {}

  private layouts(graph: Graph, lang: Lang): readonly Layout[] {
    return this.partOf.get(graph.groups)?.layouts[lang] ?? []
  }
}
