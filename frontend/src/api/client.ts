// The server's routes: the only file that knows URLs.

import type { Layout } from '../core/layout/geometry'
import type { Piece } from '../core/lessons'
import type { Rule } from '../core/rules'
import type { Lang, Level } from '../core/state'
import type { Comparison, Engine, Fixes, Graph, Trace, WhatIfs } from './types'

export interface RunOrder {
  code: string
  device: string
  seed: number
  /** What to work out once the program has ended. */
  check: CheckKind[]
}

export type CheckKind = 'finite-difference' | 'jacobian' | 'surface' | 'calls'

/** What a lesson is called and about, in one language. */
export interface LessonText {
  title: string
  /** Paragraphs. */
  text: Piece[][]
  /** Its own words for the questions that its program asks, in their order. */
  questions?: { ask: string; why: string }[]
}

export interface Lesson {
  name: string
  /** Its run, which may not have been made yet. */
  run: string
  code: string
  /** Part of the course it belongs to. */
  chapter: string
  zh: LessonText
  en: LessonText
}

export interface Health {
  torch: string
  devices: string[]
}

export interface GraphChoice {
  level: Level
  root: string | null
  pass: string | null
  /** The pass as if no other one hung together with it through layers of derivatives. */
  alone?: boolean
  /** Steps after which a question ends the run. */
  until?: number
}

/** Values of one tensor in row-major order. */
export interface Page {
  values: (number | string | boolean)[]
  /** Offset of the next page; null on the last. */
  next: number | null
}

/** A refused request (problem+json) or an unreachable server, with a sentence for the reader when the server gave
 *  one. */
export class Problem extends Error {
  constructor(
    readonly kind: 'network' | 'unreadable' | 'refused',
    readonly status: number,
    readonly sentence: string,
    readonly retryAfterS: number | null = null,
  ) {
    super(sentence || kind)
  }
}

/** The rest of a failed answer: its sentence, if the server wrote one. */
async function problemOf(answer: Response): Promise<Problem> {
  const retry = Number(answer.headers.get('Retry-After'))
  const retryAfterS = Number.isFinite(retry) && retry > 0 ? retry : null
  try {
    const body = (await answer.json()) as { detail?: unknown; title?: unknown }
    const sentence = typeof body.detail === 'string' ? body.detail : typeof body.title === 'string' ? body.title : ''
    return new Problem(sentence ? 'refused' : 'unreadable', answer.status, sentence, retryAfterS)
  } catch {
    return new Problem('unreadable', answer.status, '', retryAfterS)
  }
}

let session = ''

/** From now on requests say whose they are by a name that nobody else has, where the page's cookie is not sent. */
export function nameSession(name: string): void {
  session = name
}

export async function ask(path: string, init: RequestInit, lang: Lang): Promise<Response> {
  const headers = new Headers(init.headers)
  if (session) headers.set('Gradgraph-Session', session)
  headers.set('Accept-Language', lang)
  let answer: Response
  try {
    answer = await fetch(path, { ...init, headers })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new Problem('network', 0, '')
  }
  if (!answer.ok) throw await problemOf(answer)
  return answer
}

export async function json<T>(path: string, lang: Lang, init: RequestInit = {}): Promise<T> {
  return read(await ask(path, init, lang))
}

async function read<T>(answer: Response): Promise<T> {
  try {
    return (await answer.json()) as T
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new Problem('unreadable', answer.status, '')
  }
}

/** A trace and a graph of it in one answer. */
const SHOWN = 'application/vnd.gradgraph.shown+json'

/** The trace of a program, with its graph by a choice; where the trace comes alone, `alone` is told the run's id before
 *  it is read. */
export async function run(
  order: RunOrder, choice: GraphChoice, lang: Lang, signal: AbortSignal, alone: (id: string) => void,
): Promise<{ trace: Trace; graph: Graph | null }> {
  const headers = { 'Content-Type': 'application/json', Accept: `${SHOWN}, application/json` }
  const answer = await ask(
    `/api/v1/runs?${graphQuery(choice)}`, { method: 'POST', headers, body: JSON.stringify(order), signal }, lang,
  )
  if (answer.headers.get('Content-Type') === SHOWN) return read(answer)
  const id = answer.headers.get('Content-Location')?.split('/').pop()
  if (id) alone(id)
  return { trace: await read(answer), graph: null }
}

/** Where this browser's newest run stands in the queue. */
export interface Place {
  run: string
  state: 'waiting' | 'running' | 'finished'
  /** Runs whose turn is before its own. */
  ahead: number
  /** Seconds until it begins, if runs go on taking as long as of late. */
  expected_s: number
  /** Seconds it has been performed, the line it was at (0: unknown) and the ops recorded by then. */
  elapsed_s: number
  line: number
  ops: number
}

/** Ends a run; whoever waits for it gets its trace so far, if it had begun. */
export async function cancel(run: string, lang: Lang): Promise<void> {
  await fetch(traceUrl(run), { method: 'DELETE', headers: { 'Accept-Language': lang } })
}

/** Null where none waits or runs. */
export async function place(lang: Lang, signal: AbortSignal): Promise<Place | null> {
  const answer = await ask('/api/v1/runs/mine', { signal }, lang)
  return answer.status === 204 ? null : read(answer)
}

export function trace(id: string, lang: Lang, signal?: AbortSignal): Promise<Trace> {
  return json(traceUrl(id), lang, signal ? { signal } : {})
}

export function traceUrl(id: string): string {
  return `/api/v1/runs/${encodeURIComponent(id)}`
}

function graphQuery(choice: GraphChoice): string {
  const query = new URLSearchParams({ level: choice.level })
  if (choice.root) query.set('root', choice.root)
  if (choice.pass) query.set('pass', choice.pass)
  if (choice.alone) query.set('layers', 'false')
  if (choice.until !== undefined) query.set('until', String(choice.until))
  return query.toString()
}

export function graph(id: string, choice: GraphChoice, lang: Lang, signal?: AbortSignal): Promise<Graph> {
  return json(`${traceUrl(id)}/graph?${graphQuery(choice)}`, lang, signal ? { signal } : {})
}

/** Where everything of a graph goes in an embed, with the words of a language. */
export function layout(id: string, choice: GraphChoice, lang: Lang): Promise<Layout> {
  return json(`${traceUrl(id)}/graph/layout?${graphQuery(choice)}&room=embed&lang=${lang}`, lang)
}

/** PyTorch's engine in one pass: what it held before step `from`, and the steps from there. */
export function engine(
  run: string, pass: string, from: number, count: number, lang: Lang, signal: AbortSignal,
): Promise<Engine> {
  return json(`${traceUrl(run)}/passes/${encodeURIComponent(pass)}/engine?from=${from}&count=${count}`, lang, {
    signal,
  })
}

/** Two runs beside each other. */
export function compare(run: string, other: string, lang: Lang, signal: AbortSignal): Promise<Comparison> {
  return json(`${traceUrl(run)}/compare/${encodeURIComponent(other)}`, lang, { signal })
}

/** What a run could be done otherwise in. */
export function whatIfs(run: string, lang: Lang, signal: AbortSignal): Promise<WhatIfs> {
  return json(`${traceUrl(run)}/what-ifs`, lang, { signal })
}

/** What came of the fixes of a run's findings: once all are tried, at the latest after some seconds. */
export function fixes(run: string, patienceS: number, lang: Lang, signal: AbortSignal): Promise<Fixes> {
  return json(`${traceUrl(run)}/fixes`, lang, { headers: { Prefer: `wait=${patienceS}` }, signal })
}

/** The picture at a step, in the reader's words and colours. */
export function svgUrl(
  id: string, choice: GraphChoice, look: { lang: Lang; theme: 'light' | 'dark'; step: number },
): string {
  return `${traceUrl(id)}/graph.svg?${graphQuery(choice)}&lang=${look.lang}&theme=${look.theme}&step=${look.step}`
}

/** The page of a snapshot; with an ending, one of its files. */
export function snapshotUrl(id: string, ending = ''): string {
  return `/s/${encodeURIComponent(id)}${ending && `.${ending}`}`
}

/** What is kept, how long and why. */
export function keptUrl(lang: Lang): string {
  return `/kept?lang=${lang}`
}

export function values(run: string, tensor: string, offset: number, lang: Lang, signal: AbortSignal): Promise<Page> {
  return json(`${traceUrl(run)}/tensors/${encodeURIComponent(tensor)}?offset=${offset}`, lang, { signal })
}

export function gallery(lang: Lang): Promise<Lesson[]> {
  return json('/api/v1/gallery', lang)
}

export function lesson(name: string, lang: Lang): Promise<Lesson> {
  return json(`/api/v1/gallery/${encodeURIComponent(name)}`, lang)
}

export function health(lang: Lang): Promise<Health> {
  return json('/api/v1/health', lang)
}

export function rules(lang: Lang): Promise<Rule[]> {
  return json('/api/v1/rules', lang)
}

/** PyTorch's own formulas of a node type. */
export interface Derivative {
  type: string
  slots: { name: string; text: string }[]
  source: string
}

const derivatives = new Map<string, Promise<Derivative>>()

/** They do not change while the page is open, so each is asked for once. */
export function derivative(type: string, lang: Lang): Promise<Derivative> {
  const known = derivatives.get(type) ?? json<Derivative>(`/api/v1/rules/${encodeURIComponent(type)}`, lang)
  derivatives.set(type, known)
  known.catch(() => derivatives.delete(type)) // asked again the next time
  return known
}
