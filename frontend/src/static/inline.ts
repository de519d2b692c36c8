// What a file that holds its run needs besides graphs and layouts: which passes its steps lead to, and what its errors
// are called.

import type { Trace } from '../api/types'
import { passesShown } from '../core/trace/passes'
import { words } from '../core/words/bundled'

function titles(trace: Trace, lang: 'en' | 'zh'): Record<string, string> {
  const errors = trace.findings.filter((finding) => finding.severity === 'error')
  const keys = errors.map((finding) => `finding.${finding.code}.title`)
  return Object.fromEntries(keys.map((key) => [key, words(lang)(key)]))
}

declare global {
  var gradgraphInline: (traceJson: string) => string
}

globalThis.gradgraphInline = (traceJson) => {
  const trace = JSON.parse(traceJson) as Trace
  return JSON.stringify({ passes: passesShown(trace), titles: { en: titles(trace, 'en'), zh: titles(trace, 'zh') } })
}
