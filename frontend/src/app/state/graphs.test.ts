import { afterEach, expect, test, vi } from 'vitest'
import type { GraphChoice } from '../../api/client'
import type { Graph } from '../../api/types'
import { load } from '../../core/fixtures/load'
import { choiceAt, Graphs } from './graphs'

const both: GraphChoice = { level: 'both', root: null, pass: null }
const { signal } = new AbortController()

/** A server that answers each graph by its own address, or refuses all. */
function serving(status = 200): string[] {
  const asked: string[] = []
  vi.stubGlobal('fetch', (path: string) => {
    asked.push(path)
    return Promise.resolve(new Response(JSON.stringify({ run: path }), { status }))
  })
  return asked
}

afterEach(() => vi.unstubAllGlobals())

test('an expected graph is asked for once, before it is wanted', async () => {
  const asked = serving()
  const graphs = new Graphs()
  graphs.expect('one', both, 'en', signal)
  expect(asked).toEqual(['/api/v1/runs/one/graph?level=both'])
  expect(await graphs.of('one', both, 'en', signal)).toEqual({ run: asked[0] })
  graphs.expect('one', both, 'en', signal)
  await graphs.of('one', both, 'en', signal)
  expect(asked).toHaveLength(1)
})

test('a graph that came with its trace is not asked for', async () => {
  const asked = serving()
  const graphs = new Graphs()
  const graph = { run: 'one' } as Graph
  graphs.keep('one', both, graph)
  expect(await graphs.of('one', both, 'en', signal)).toBe(graph)
  await graphs.of('one', { ...both, level: 'autograd' }, 'en', signal)
  expect(asked).toEqual(['/api/v1/runs/one/graph?level=autograd'])
})

test('another graph than the expected one is asked for by itself', async () => {
  const asked = serving()
  const graphs = new Graphs()
  graphs.expect('one', both, 'en', signal)
  expect(await graphs.of('one', { ...both, pass: 'p2' }, 'en', signal)).toEqual({
    run: '/api/v1/runs/one/graph?level=both&pass=p2',
  })
  expect(asked).toHaveLength(2)
})

test('what became of a refused one is told to whoever wants it, and the next one asks again', async () => {
  serving(500)
  const graphs = new Graphs()
  graphs.expect('one', both, 'en', signal)
  await expect(graphs.of('one', both, 'en', signal)).rejects.toMatchObject({ status: 500 })
  const asked = serving()
  await graphs.of('one', both, 'en', signal)
  expect(asked).toHaveLength(1)
})

test('what the reader chose is drawn, or else the pass of the step', () => {
  const { trace } = load('accumulation')
  const passes = trace.passes.map((pass) => pass.id)
  expect(choiceAt(trace, both, 0)).toEqual({ ...both, pass: passes[0], alone: false })
  expect(choiceAt(trace, both, trace.timeline.length)).toEqual({ ...both, pass: passes[2], alone: false })
  expect(choiceAt(trace, { ...both, pass: passes[1]! }, 0)).toEqual({ ...both, pass: passes[1], alone: true })
  expect(choiceAt(trace, { ...both, root: 'n1' }, 0)).toEqual({ ...both, root: 'n1', alone: false })
  expect(choiceAt(null, both, 0)).toEqual({ ...both, alone: false })
})
