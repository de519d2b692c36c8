// Where an embed has its run from: its server, or the file it stands in.

import type { GraphChoice } from '../api/client'
import type { Graph, Trace } from '../api/types'
import type { Lang } from '../core/state'
import type { Words } from '../core/words/sentences'
import type { Layouts } from '../graph/layout-source'

export interface Source extends Layouts {
  trace(lang: Lang): Promise<Trace>
  graph(choice: GraphChoice, lang: Lang): Promise<Graph>
  /** The words of a language; without the titles of findings those come as their keys. */
  words(lang: Lang, titles: boolean): Promise<Words>
  /** Which groups are open once some were pressed; null where that cannot be shown. */
  settle(
    graph: Graph, before: ReadonlySet<string> | null, wanted: ReadonlySet<string>,
  ): ReadonlySet<string> | null
}
