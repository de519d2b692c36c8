import { afterEach, expect, test, vi } from 'vitest'
import { run, svgUrl, type GraphChoice, type RunOrder } from './client'

const order: RunOrder = { code: 'x = 1', device: 'cpu', seed: 0, check: [] }
const choice: GraphChoice = { level: 'both', root: null, pass: 'p2' }
const { signal } = new AbortController()

/** A server that gives one answer; what it was asked. */
function answering(body: unknown, type: string, status = 200): { path: string; accept: string | null }[] {
  const asked: { path: string; accept: string | null }[] = []
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => {
    asked.push({ path, accept: new Headers(init.headers).get('Accept') })
    const headers = { 'Content-Type': type, 'Content-Location': '/api/v1/runs/abc' }
    return Promise.resolve(new Response(JSON.stringify(body), { status, headers }))
  })
  return asked
}

afterEach(() => vi.unstubAllGlobals())

test('the graph comes with the trace, and nobody is told to ask for it', async () => {
  const asked = answering({ trace: { id: 'abc' }, graph: { run: 'abc' } }, 'application/vnd.gradgraph.shown+json')
  const alone = vi.fn()
  expect(await run(order, choice, 'en', signal, alone)).toEqual({ trace: { id: 'abc' }, graph: { run: 'abc' } })
  expect(asked).toEqual([
    { path: '/api/v1/runs?level=both&pass=p2', accept: 'application/vnd.gradgraph.shown+json, application/json' },
  ])
  expect(alone).not.toHaveBeenCalled()
})

test('of a trace that comes alone the id is told before it is read', async () => {
  answering({ id: 'abc' }, 'application/json')
  const alone = vi.fn()
  expect(await run(order, choice, 'en', signal, alone)).toEqual({ trace: { id: 'abc' }, graph: null })
  expect(alone).toHaveBeenCalledWith('abc')
})

test('a refusal is told in the words of the server', async () => {
  answering({ detail: 'The queue is full.' }, 'application/problem+json', 503)
  await expect(run(order, choice, 'en', signal, vi.fn())).rejects.toMatchObject({
    kind: 'refused', status: 503, sentence: 'The queue is full.',
  })
})

test('a downloaded picture is of the step, in the words and colours on the page', () => {
  const url = new URL(
    svgUrl('r1', { level: 'both', root: null, pass: 'p2', alone: true }, { lang: 'zh', theme: 'dark', step: 7 }),
    'http://x',
  )
  expect(url.pathname).toBe('/api/v1/runs/r1/graph.svg')
  expect(Object.fromEntries(url.searchParams)).toEqual({
    level: 'both', pass: 'p2', layers: 'false', lang: 'zh', theme: 'dark', step: '7',
  })
})
