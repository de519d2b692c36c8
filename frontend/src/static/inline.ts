// What a file that holds its run needs besides graphs: which passes its steps lead to, where everything goes as a
// reader opens and folds groups, and what its diagnoses are called.

import type { Graph, Trace } from '../api/types'
import { foldings } from '../core/layout/foldings'
import type { Layout } from '../core/layout/geometry'
import { layout } from '../core/layout/layout'
import { EMBED } from '../core/paint/measure'
import { layoutInput } from '../core/paint/sizes'
import { View } from '../core/paint/view'
import type { Lang } from '../core/state'
import { passesShown } from '../core/trace/trace-index'
import { words } from '../core/words/bundled'

function titles(trace: Trace, lang: Lang): Record<string, string> {
  const told = trace.findings.filter((finding) => finding.severity !== 'note')
  const keys = told.map((finding) => `finding.${finding.code}.title`)
  return Object.fromEntries(keys.map((key) => [key, words(lang)(key)]))
}

interface FoldingOptions {
  /** Language of the words that are measured. */
  lang: Lang
  /** Layouts at most. */
  most: number
  /** Groups that are open at first; left out: the opening choice. */
  expanded?: string[]
}

function layouts(trace: Trace, graph: Graph, { lang, most, expanded }: FoldingOptions): Layout[] {
  const { measure } = new View(trace, graph, words(lang), EMBED)
  return foldings(measure.sheet, most, expanded).map((open) => layout(layoutInput(measure, open)))
}

declare global {
  var gradgraphInline: (traceJson: string) => string
  var gradgraphLayouts: (traceJson: string, graphJson: string, optionsJson: string) => string
}

globalThis.gradgraphInline = (traceJson) => {
  const trace = JSON.parse(traceJson) as Trace
  return JSON.stringify({ passes: passesShown(trace), titles: { en: titles(trace, 'en'), zh: titles(trace, 'zh') } })
}

globalThis.gradgraphLayouts = (traceJson, graphJson, optionsJson) =>
  JSON.stringify(
    layouts(JSON.parse(traceJson) as Trace, JSON.parse(graphJson) as Graph, JSON.parse(optionsJson) as FoldingOptions),
  )
