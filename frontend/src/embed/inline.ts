// A run that stands in the page itself: nothing is fetched, so it plays from a file and in a frame without an origin.

import { Problem, type GraphChoice } from '../api/client'
import type { Graph, Trace } from '../api/types'
import type { Layout, LayoutInput } from '../core/layout/geometry'
import { layoutInput } from '../core/paint/sizes'
import type { View } from '../core/paint/view'
import type { Lang } from '../core/state'
import { wordsOf, type Words } from '../core/words/sentences'
import type { Answer } from '../graph/layout-source'
import en from '../../words/en.json'
import zh from '../../words/zh.json'
import type { Source } from './source'

/** The graph of one pass, with where everything on it goes as it opens. */
interface Part {
  pass: string | null
  graph: Graph
  layouts: Readonly<Record<Lang, Layout>>
}

/** What server/standalone.py puts into the file. */
export interface Inline {
  trace: Trace
  parts: readonly Part[]
  /** Titles of the findings that are errors. */
  titles: Readonly<Record<Lang, Readonly<Record<string, string>>>>
  /** How it opens, in the words of an embed's address. */
  opens: Readonly<Record<string, string>>
}

declare global {
  /** Lays out what a reader opens or folds; a file whose graphs have no groups comes without. */
  var gradgraphPlace: ((input: LayoutInput) => Layout) | undefined
}

export class InlineSource implements Source {
  private readonly partOf: WeakMap<Graph, Part>
  private readonly spoken: Readonly<Record<Lang, Words>>

  constructor(private readonly given: Inline) {
    this.partOf = new WeakMap(given.parts.map((part) => [part.graph, part]))
    const { titles } = given
    this.spoken = { en: wordsOf({ ...en, ...titles.en }), zh: wordsOf({ ...zh, ...titles.zh }) }
  }

  trace(): Promise<Trace> {
    return Promise.resolve(this.given.trace)
  }

  graph({ pass }: GraphChoice, lang: Lang): Promise<Graph> {
    const { parts } = this.given
    const part = parts.length === 1 ? parts[0] : parts.find((one) => one.pass === pass)
    if (part) return Promise.resolve(part.graph)
    return Promise.reject(new Problem('refused', 404, this.spoken[lang]('embed.pass_left_out', { n: parts.length })))
  }

  words(lang: Lang): Promise<Words> {
    return Promise.resolve(this.spoken[lang])
  }

  of(view: View, expanded: ReadonlySet<string> | null): Promise<Answer> {
    const lang = view.measure.words === this.spoken.zh ? 'zh' : 'en'
    const place = globalThis.gradgraphPlace
    const opening = this.partOf.get(view.sheet.graph)?.layouts[lang]
    const layout = expanded && place ? place(layoutInput(view.measure, expanded)) : opening
    return Promise.resolve(layout ? { id: 0, layout } : { id: 0, failure: 'no layout' })
  }

  close(): void {}
}
