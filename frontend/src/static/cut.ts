// A run as it was before a question: what the server draws of a program that asks its reader.

import type { Trace } from '../api/types'
import { cutTrace } from '../core/trace/cut'

declare global {
  var gradgraphCut: (traceJson: string, step: string) => string
}

globalThis.gradgraphCut = (traceJson, step) => JSON.stringify(cutTrace(JSON.parse(traceJson) as Trace, Number(step)))
