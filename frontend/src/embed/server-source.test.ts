import type { Layout } from '../core/layout/geometry'
import { afterEach, expect, test, vi } from 'vitest'
import { load } from '../core/fixtures/load'
import { layout } from '../core/layout/layout'
import { EMBED } from '../core/paint/measure'
import { layoutInput } from '../core/paint/sizes'
import { View } from '../core/paint/view'
import { words } from '../core/words/bundled'
import '../static/layout'
import { ServerSource } from './server-source'

const { trace, graph } = load('attention')
const choice = { level: 'both', root: null, pass: null } as const

afterEach(() => vi.unstubAllGlobals())

/** A server that knows one graph, and lays it out or does not. */
function serve(laysOut: boolean): string[] {
  const asked: string[] = []
  vi.stubGlobal('fetch', (path: string) => {
    asked.push(path)
    const { pathname, searchParams: query } = new URL(path, 'http://server')
    if (!pathname.endsWith('/graph/layout')) return Promise.resolve(Response.json(graph))
    const options = JSON.stringify({ lang: query.get('lang'), room: query.get('room') })
    return Promise.resolve(
      laysOut
        ? new Response(globalThis.gradgraphLayout(JSON.stringify(trace), JSON.stringify(graph), options))
        : Response.json({ title: 'not built' }, { status: 503 }),
    )
  })
  return asked
}

const viewIn = (lang: 'en' | 'zh', drawn = graph) => new View(trace, drawn, words(lang), EMBED)
const own = (view: View, open: ReadonlySet<string> | null): Layout => layout(layoutInput(view.measure, open))

async function answer(layouts: ServerSource, view: View, open: ReadonlySet<string> | null): Promise<Partial<Layout>> {
  const found = await layouts.of(view, open)
  return found && 'layout' in found ? found.layout : {}
}

test('a graph as it opens is laid out by the server, in the language it is shown in, once', async () => {
  const asked = serve(true)
  const layouts = new ServerSource('r1')
  for (const lang of ['en', 'zh', 'en'] as const) {
    const view = viewIn(lang, await layouts.graph(choice, lang))
    expect(await answer(layouts, view, null)).toEqual({ format: 'gradgraph.layout/1', ...own(view, null) })
  }
  expect(asked.map((path) => /graph(\/layout)?/.exec(path)![0] + (/lang=../.exec(path)?.[0] ?? ''))).toEqual([
    'graph/layoutlang=en', 'graph', 'graph/layoutlang=zh',
  ])
})

test('what a reader opens is laid out here', async () => {
  serve(true)
  const layouts = new ServerSource('r1')
  const view = viewIn('en', await layouts.graph(choice, 'en'))
  const open = new Set<string>()
  expect(await answer(layouts, view, open)).toEqual(own(view, open))
  expect(own(view, open)).not.toEqual(own(view, null))
})

test('a server that does not lay out is not waited for', async () => {
  serve(false)
  const layouts = new ServerSource('r1')
  const view = viewIn('zh', await layouts.graph(choice, 'zh'))
  expect(await answer(layouts, view, null)).toEqual(own(view, null))
})

test('an answer that a newer question has overtaken is dropped', async () => {
  serve(true)
  const layouts = new ServerSource('r1')
  const view = viewIn('en', await layouts.graph(choice, 'en'))
  const [late, newest] = [layouts.of(view, null), layouts.of(view, new Set())]
  expect(await late).toBeNull()
  expect(await newest).toHaveProperty('layout')
})
