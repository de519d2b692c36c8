import { expect, test } from 'vitest'
import type { LayoutInput } from '../core/layout/geometry'
import { LayoutClient } from './layout-client'

// No worker here: the client falls back to its own thread, as in a sandboxed frame.
const one: LayoutInput = {
  boxes: [{ id: 'a', parent: '', w: 140, h: 60, side: 6, tail: 0 }], groups: [], links: [], expanded: [],
  gap: 36, beside: 6,
}

test('the newest question is answered, an overtaken one is dropped', async () => {
  const client = new LayoutClient()
  const [late, newest] = [client.ask({ ...one, boxes: [] }), client.ask(one)]
  expect(await late).toBeNull()
  expect(await newest).toMatchObject({ layout: { boxes: [{ id: 'a', w: 140 }] } })
})

test('a failure is an answer', async () => {
  const client = new LayoutClient()
  const answer = await client.ask({ ...one, links: [null as unknown as LayoutInput['links'][number]] })
  expect(answer).toMatchObject({ failure: expect.stringContaining('null') })
})

test('a large graph is answered too where no worker can be started', async () => {
  const boxes = Array.from({ length: 400 }, (_, at) => ({ ...one.boxes[0]!, id: `b${at}` }))
  const answer = await new LayoutClient().ask({ ...one, boxes })
  expect(answer && 'layout' in answer && answer.layout.boxes).toHaveLength(400)
})
