// Trace and graph to the places of everything on it, as a page would lay it out: what the server gives embeds.

import type { Layout } from '../core/layout/geometry'
import type { Graph, Trace } from '../api/types'
import { layout } from '../core/layout/layout'
import { EMBED } from '../core/paint/measure'
import { PAGE, PHONE } from '../core/paint/annotations'
import { layoutInput } from '../core/paint/sizes'
import type { Lang } from '../core/state'
import { View } from '../core/paint/view'
import { words } from '../core/words/bundled'

const ROOMS = { page: PAGE, embed: EMBED, phone: PHONE }

interface LayoutOptions {
  /** Language of the words that are measured. */
  lang: Lang
  room: keyof typeof ROOMS
}

/** Where everything goes when the graph opens; the fields are documented in server/layout.py. */
function place(trace: Trace, graph: Graph, { lang, room }: LayoutOptions): Layout & { format: 'gradgraph.layout/1' } {
  return {
    format: 'gradgraph.layout/1',
    ...layout(layoutInput(new View(trace, graph, words(lang), ROOMS[room]).measure, null)),
  }
}

declare global {
  var gradgraphLayout: (traceJson: string, graphJson: string, optionsJson: string) => string
}

globalThis.gradgraphLayout = (traceJson, graphJson, optionsJson) =>
  JSON.stringify(
    place(JSON.parse(traceJson) as Trace, JSON.parse(graphJson) as Graph, JSON.parse(optionsJson) as LayoutOptions),
  )
