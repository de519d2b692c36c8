// How a run ended and what was left out, as sentences above the graph.

import type { Graph, Trace } from '../api/types'
import type { Words } from '../core/sentences'
import type { Lang } from '../core/state'
import { grouped } from './naming'

export interface Notice {
  text: string
  tone: 'plain' | 'note' | 'err'
  line?: number
}

export function notices(trace: Trace | null, graph: Graph | null, t: Words, lang: Lang): Notice[] {
  if (!trace) return []
  const found: Notice[] = []
  const ended = ending(trace, t, lang)
  if (ended) found.push(ended)
  for (const { what, kept, limit } of trace.truncated) {
    const key = `truncated.${what}`
    if (what !== 'values' && t.has(key)) found.push({ text: t(key, { kept: grouped(kept, lang), limit }), tone: 'note' })
  }
  if (graph && (graph.omitted ?? 0) > 0) found.push({ text: t('state.truncated', { n: grouped(graph.omitted ?? 0, lang) }), tone: 'note' })
  if (trace.nodes.length === 0 && trace.status !== 'failed' && !trace.tensors.some((tensor) => tensor.requires_grad)) found.push({ text: t('state.no_graph'), tone: 'plain' })
  return found
}

function ending(trace: Trace, t: Words, lang: Lang): Notice | null {
  const { failure } = trace
  if (!failure) return null
  const steps = grouped(trace.timeline.length, lang)
  const line = failure.span?.line
  const at = line === undefined ? {} : { line }
  if (failure.kind === 'syntax' && line !== undefined) return { text: t('state.syntax', { line }), tone: 'err', ...at }
  if (trace.status === 'limited' && failure.limit === 'wall_s') return { text: t('state.limited_time', { s: trace.limits.wall_s, steps }), tone: 'note', ...at }
  if (trace.status === 'limited') return { text: t('state.limited', { limit: t.has(`limit.${failure.limit}`) ? t(`limit.${failure.limit}`) : failure.type, steps }), tone: 'note', ...at }
  if (trace.status === 'crashed') return { text: t('state.crashed', { steps }), tone: 'err', ...at }
  return line === undefined ? { text: t('state.failed_nowhere'), tone: 'err' } : { text: t('state.failed', { line }), tone: 'err', ...at }
}
