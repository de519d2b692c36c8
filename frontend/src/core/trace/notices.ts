// How a run ended and what was left out, as sentences above the graph.

import type { Graph, Trace } from '../../api/types'
import type { Words } from '../words/sentences'
import type { Lang } from '../state'
import { grouped } from './naming'

interface Notice {
  text: string
  tone: 'plain' | 'note' | 'err'
  line?: number
}

export function notices(trace: Trace | null, graph: Graph | null, t: Words, lang: Lang): Notice[] {
  if (!trace) return []
  const found: Notice[] = []
  const ended = ending(trace, graph, t, lang)
  if (ended) found.push(ended)
  for (const { what, kept, limit } of trace.truncated) {
    if (limit === 'sample') continue
    const key = `truncated.${what}`
    if (!t.has(key)) continue // others are seen to be missing where they would stand
    const text = t(key, { kept: grouped(kept, lang), limit: limitName(limit, t) })
    if (ended && /[:：] ?$/.test(ended.text)) ended.text += text
    else found.push({ text, tone: 'note' })
  }
  const sampled = sample(trace, t, lang)
  if (sampled) found.push(sampled)
  if (graph && (graph.omitted ?? 0) > 0)
    found.push({ text: t('state.truncated', { n: grouped(graph.omitted ?? 0, lang) }), tone: 'note' })
  if (trace.nodes.length === 0 && trace.status !== 'failed' && !trace.tensors.some((tensor) => tensor.requires_grad))
    found.push({ text: t('state.no_graph'), tone: 'plain' })
  return found
}

function limitName(limit: string, t: Words): string {
  return t.has(`limit.${limit}`) ? t(`limit.${limit}`) : limit
}

/** Which passes of a long loop were kept: all of the first, then a sample. */
function sample(trace: Trace, t: Words, lang: Lang): Notice | null {
  const cut = trace.truncated.find(({ what, limit }) => what === 'passes' && limit === 'sample')
  const first = trace.gaps?.find((gap) => gap.first != null)?.first
  if (!cut || first == null) return null
  const all = cut.kept + (cut.omitted ?? 0)
  const points = trace.curve?.length ?? 0
  return {
    text: t('truncated.sample', {
      curve: Number(points === all), points: grouped(points, lang),
      all: grouped(all, lang), kept: grouped(cut.kept, lang), first: grouped(first - 1, lang),
      last: grouped(Number(trace.passes.at(-1)?.id.slice(1) ?? 0), lang),
    }),
    tone: 'note',
  }
}

function ending(trace: Trace, graph: Graph | null, t: Words, lang: Lang): Notice | null {
  const { failure } = trace
  if (!failure) return null
  const steps = grouped(trace.timeline.length, lang)
  const isCut = trace.truncated.some(({ what }) => what === 'ops' || what === 'nodes' || what === 'steps')
  const line = failure.span?.line
  const at = line === undefined ? {} : { line }
  if (failure.type === 'cancelled') return { text: t('state.cancelled', { steps }), tone: 'note' }
  if (failure.kind === 'syntax' && line !== undefined) return { text: t('state.syntax', { line }), tone: 'err', ...at }
  if (trace.status === 'limited' && failure.limit === 'wall_s') {
    const [s, took] = [trace.limits.wall_s, Math.round((trace.timings.run_ms ?? 0) / 1000)]
    const late = Number(took > s)
    return { text: t('state.limited_time', { s, steps, cut: Number(isCut), took, late }), tone: 'note', ...at }
  }
  if (trace.status === 'limited')
    return {
      text: t('state.limited', { limit: limitName(failure.limit ?? failure.type, t), steps }),
      tone: 'note',
      ...at,
    }
  if (trace.status === 'crashed') return { text: t('state.crashed', { steps }), tone: 'err', ...at }
  const drawn = graph && graph.boxes.length > 0 ? 1 : 0
  return line === undefined
    ? { text: t('state.failed_nowhere', { drawn }), tone: 'err' }
    : { text: t('state.failed', { line, drawn }), tone: 'err', ...at }
}
