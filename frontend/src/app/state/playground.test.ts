import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Trace } from '../../api/types'
import { load } from '../../core/fixtures/load'
import { Playground } from './playground.svelte'

const { trace, graph } = load('broadcasting')
let frames: FrameRequestCallback[] = []

/** A server that answers each run with the next of these. */
function serving(...traces: Trace[]): void {
  const left = [...traces]
  vi.stubGlobal('fetch', () => {
    const next = left.shift()!
    const headers = {
      'Content-Type': 'application/vnd.gradgraph.shown+json', 'Content-Location': `/api/v1/runs/${next.id}`,
    }
    return Promise.resolve(
      new Response(JSON.stringify({ trace: next, graph: { ...graph, run: next.id } }), { headers }),
    )
  })
}

function paint(): void {
  for (const frame of frames.splice(0)) frame(0)
}

function drawn(play: Playground, id: string): Promise<void> {
  return vi.waitFor(() => expect(play.picture?.trace.id).toBe(id))
}

/** A page that shows `one`, and is about to show `two`, whose picture is there. */
async function between(): Promise<{ play: Playground; done: Promise<void> }> {
  serving({ ...trace, id: 'one' }, { ...trace, id: 'two' }, { ...trace, id: 'three' })
  const play = new Playground()
  play.code = trace.program.code
  await play.run()
  const done = play.run()
  await drawn(play, 'two')
  return { play, done }
}

beforeEach(() => vi.stubGlobal('requestAnimationFrame', (frame: FrameRequestCallback) => frames.push(frame)))

afterEach(() => {
  frames = []
  vi.unstubAllGlobals()
})

test('where a number was edited, the picture comes first and the rest of the page once it is painted', async () => {
  const { play, done } = await between()
  expect(play.picture?.graph.run).toBe('two')
  expect([play.trace?.id, play.graph?.run, play.view.run]).toEqual(['one', 'one', 'one'])
  const picture = play.picture
  paint()
  await done
  expect([play.trace?.id, play.graph?.run, play.view.run, play.running]).toEqual(['two', 'two', 'two', 'no'])
  expect(play.picture).toBe(picture)
})

test('what is chosen meanwhile is kept', async () => {
  const { play, done } = await between()
  play.goTo(3)
  const selection = { kind: 'box', id: graph.boxes[0]!.id } as const
  play.select(selection)
  paint()
  await done
  expect([play.view.step, play.view.selection]).toEqual([3, selection])
})

test('a page in a tab behind others is not kept waiting for a frame', async () => {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  const { play, done } = await between()
  await done
  expect(play.trace?.id).toBe('two')
  vi.restoreAllMocks()
})

test('another run begins from the page as a whole', async () => {
  const { play, done } = await between()
  const next = play.run()
  expect(play.trace?.id).toBe('two')
  await drawn(play, 'three')
  paint()
  await Promise.all([done, next])
  expect([play.trace?.id, play.view.run]).toEqual(['three', 'three'])
})

test('a page that was emptied stays empty', async () => {
  const { play, done } = await between()
  play.blank()
  paint()
  await done
  expect([play.trace, play.picture, play.view.run]).toEqual([null, null, null])
})

test('where something else happened, all of the page changes at once', async () => {
  serving({ ...trace, id: 'one' }, { ...trace, id: 'two', timeline: trace.timeline.slice(1) })
  const play = new Playground()
  play.code = trace.program.code
  await play.run()
  await play.run()
  expect(frames).toEqual([])
  expect([play.trace?.id, play.picture?.trace.id, play.view.step]).toEqual(['two', 'two', trace.timeline.length - 1])
})
