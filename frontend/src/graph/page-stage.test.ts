import { expect, test, vi } from 'vitest'
import type { Layout } from '../core/layout/geometry'
import type { View } from '../core/paint/view'
import { NAME, type Camera } from './camera'
import type { Motion } from './motion.svelte'
import { PageStage } from './page-stage.svelte'
import { LARGE, type Around } from './stage.svelte'

const box = (id: string, x: number, y: number, w = 200) => ({ id, x, y, w, h: 60 })
const row = (n: number, step: number) => Array.from({ length: n }, (_, at) => box(`b${at}`, at * step, at * 90))

type Hand = Pick<Motion, 'camera' | 'isHeld' | 'hold'>

interface Size {
  width: number
  height: number
}

function staged(known: Partial<Around> = {}): { stage: PageStage; motion: Hand } {
  const move = (next: Camera) => void (motion.camera = next)
  const motion: Hand & object = Object.assign(
    { camera: { x: 0, y: 0, zoom: 1 }, isHeld: false }, { jump: move, slide: move, hold: move, stop: () => undefined },
  )
  const desk = { abreast: 1, railed: true, large: false, clear: undefined, expanded: null }
  const focus = [null, null, 'b0']
  return { stage: new PageStage(motion as unknown as Motion, () => ({ ...desk, focus, ...known })), motion }
}

function viewOf(root = 'n1'): View {
  const story = { index: { trace: { failure: null, findings: [] } }, hasSeed: (id: string) => id === 'b8' }
  const graph = { run: 'r', level: 'both', root, links: [] }
  const sheet = { graph, groups: new Map(), parents: new Map(), single: new Map(), stubs: new Map() }
  return { isUnread: () => false, sheet, measure: { story, sheet } } as unknown as View
}

function laid(layout: Partial<Layout>): Layout {
  const all = { x: 0, y: 0, width: 3000, height: 3000, frames: [], wires: [], open: [], ...layout }
  return all as unknown as Layout
}

function opened({ width, height }: Size, layout: Partial<Layout>, known: Partial<Around> = {}): Camera {
  const { stage, motion } = staged(known)
  ;[stage.width, stage.height] = [width, height]
  stage.receive(viewOf(), laid(layout))
  return motion.camera
}

test('what has just opened stands as if its window had always been as it is; later nothing moves for little', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(5000)
  const layout = { boxes: row(9, 0), width: 700, height: 900 }
  const { stage, motion } = staged()
  ;[stage.width, stage.height] = [800, 410]
  stage.receive(viewOf(), laid(layout))
  stage.height = 400
  stage.reopen()
  expect(motion.camera).toEqual(opened({ width: 800, height: 400 }, layout))
  now.mockReturnValue(9000)
  const settled = motion.camera
  stage.height = 390
  stage.reopen()
  expect(motion.camera).toEqual(settled)
  now.mockRestore()
})

test('a group begins in view where there is room for what is seen too', () => {
  const boxes = row(9, 0).map((one) => ({ ...one, x: 600 }))
  const frames = [{ id: 'g', x: 420, y: 0, w: 500, h: 900, title_x: 430 }]
  const camera = opened({ width: 800, height: 600 }, { boxes, frames } as unknown as Layout, { railed: false })
  expect(camera.zoom).toBe(1)
  expect(camera.x + 420).toBeGreaterThanOrEqual(0)
  const wide = frames.map((frame) => ({ ...frame, x: 15, w: 900, title_x: 25 }))
  const tight = opened({ width: 800, height: 600 }, { boxes, frames: wide } as unknown as Layout, { railed: false })
  expect(tight.x + 25 + NAME).toBeGreaterThanOrEqual(0)
})

test('where a pass starts is seen with its seed', () => {
  const layout = { boxes: row(9, 0), height: 900 }
  const { y } = opened({ width: 800, height: 550 }, layout, { focus: [null, null, 'b8'] })
  expect(y + 8 * 90 + 60 + 30).toBeLessThanOrEqual(550)
})

test('the name of a group begins with its icon where there is room for that', () => {
  const boxes = row(9, 0).map((one) => ({ ...one, x: 600 }))
  const frames = [{ id: 'g', x: 410, y: 0, w: 500, h: 900, title_x: 420 }]
  const camera = opened({ width: 390, height: 600 }, { boxes, frames } as unknown as Layout, { railed: false })
  expect(camera.x + 420).toBeGreaterThanOrEqual(0)
})

test('on a phone one box stands in the middle, and what is unfolded comes into view', () => {
  const { stage, motion } = staged()
  ;[stage.width, stage.height] = [390, 300]
  const view = viewOf()
  stage.receive(view, laid({ boxes: [box('b0', 900, 900), box('b1', 500, 900)] }))
  expect(motion.camera.x).toBe(195 - 1000)
  stage.hold('b0')
  const inside = [box('b2', 1200, 930), box('b1', 500, 900)]
  const frames = [{ id: 'b0', x: 900, y: 900, w: 600, h: 200, title_x: 910, title_w: 90 }]
  stage.receive(view, laid({ boxes: inside, frames }))
  expect(motion.camera.x + 1200).toBeGreaterThanOrEqual(0)
  expect(motion.camera.x + 1400).toBeLessThanOrEqual(390)
})

test('of a large model that hardly shows a box at once there is one that can be read all the same', () => {
  const boxes = row(14, 300)
  expect(opened({ width: 700, height: 500 }, { boxes, width: 1500, height: 1000 })).toMatchObject({ zoom: 1 })
})

test('what is no wider than the window is in its middle, though a map stands beside it', () => {
  const layout = { boxes: row(9, 0), width: 700, height: 900 }
  expect(opened({ width: 800, height: 400 }, layout).x).toBe(50)
})

test('constants come into view beside all that is seen, as far as that stays whole', () => {
  const { stage, motion } = staged({ railed: false })
  ;[stage.width, stage.height] = [700, 500]
  const view = viewOf()
  const stubs = new Map([['b1', [{ text: '1', box: null, tensor: null }]]])
  Object.assign(view.measure, { density: 'lesson', spacious: {}, sheet: { ...view.sheet, stubs } })
  const layout = laid({ boxes: [box('b0', 150, 0, 500), box('b1', 50, 90, 300)], width: 900, height: 900 })
  for (let asked = 0; asked < 6; asked += 1) stage.receive(view, layout)
  expect(motion.camera.x).toBe(12)
})

test('a small graph too large for the window is asked for tighter, and stays so while numbers change', () => {
  const { stage } = staged()
  ;[stage.width, stage.height] = [700, 500]
  const view = viewOf()
  Object.assign(view.measure, { density: 'lesson', spacious: {} })
  const [loose, tight] = [900, 600].map((width) => laid({ boxes: [box('b0', 0, 0)], width, height: 400 }))
  const rooms = [stage.room]
  for (const layout of [loose, tight, loose, tight]) {
    stage.receive(view, layout!)
    rooms.push(stage.room)
  }
  expect(rooms.map((room) => room === rooms[1])).toEqual([false, true, true, true, true])
  expect(stage.layout).toBe(tight)
  const other = laid({ boxes: [box('c0', 0, 0)], width: 900, height: 400 })
  for (let asked = 0; asked < 7; asked += 1) stage.receive(view, other)
  expect([stage.room === rooms[0], stage.layout]).toEqual([true, other])
})

test('a small graph that was tried in a window which was still to change is tried again in the new one', () => {
  const { stage, motion } = staged()
  ;[stage.width, stage.height] = [700, 500]
  const view = viewOf()
  Object.assign(view.measure, { density: 'lesson', spacious: {} })
  const all = [900, 650, 650, 650, 650].map((width) => laid({ boxes: [box('b0', 0, 0)], width, height: 400 }))
  const rooms: unknown[] = []
  const settle = () => {
    for (let room: unknown = null; room !== stage.room;) {
      room = stage.room
      if (!rooms.includes(room)) rooms.push(room)
      stage.receive(view, all[rooms.indexOf(room)]!)
    }
  }
  settle()
  expect(stage.layout).toBe(all[1])
  stage.width = 1000
  stage.reopen()
  settle()
  expect(stage.layout).toBe(all[0])
  expect(motion.camera.x).toBe(50)
})

test('a model is asked for as loose as ever after a small graph that was tight', () => {
  const { stage } = staged()
  ;[stage.width, stage.height] = [700, 500]
  const [view, model] = [viewOf(), viewOf('n2')]
  Object.assign(view.measure, { density: 'lesson', spacious: {} })
  const loose = stage.room
  for (const width of [900, 600]) stage.receive(view, laid({ boxes: [box('b0', 0, 0)], width, height: 400 }))
  expect(stage.room).not.toBe(loose)
  for (const width of [800, 900]) stage.receive(model, laid({ boxes: row(3, 90), width, height: 4000 }))
  expect([stage.room, stage.layout?.width]).toEqual([loose, 900])
})

test('a small graph that is too large however tight it is has the loosest layout that shows most of it', () => {
  const { stage } = staged()
  ;[stage.width, stage.height] = [700, 500]
  const view = viewOf()
  Object.assign(view.measure, { density: 'lesson', spacious: {} })
  const laidOut = [400, 400, 210, 210, 300].map((step) => laid({ boxes: row(5, step), width: 900, height: 900 }))
  const rooms: unknown[] = []
  for (let asked = 0; asked < 7; asked += 1) {
    if (!rooms.includes(stage.room)) rooms.push(stage.room)
    stage.receive(view, laidOut[rooms.indexOf(stage.room)]!)
  }
  expect([rooms.length, stage.layout]).toEqual([5, laidOut[2]])
})

test('next to another graph it is as large as alone, and opens anew at another place until the reader moves it', () => {
  const around: { abreast: number; railed: boolean; focus: Around['focus'] } =
    { abreast: 2, railed: false, focus: [null, null, 'b0'] }
  const { stage, motion } = staged(around)
  ;[stage.width, stage.height] = [360, 300]
  stage.receive(viewOf(), laid({ boxes: row(3, 900), width: 2000, height: 3000 }))
  const first = motion.camera
  expect(first.zoom).toBe(1)
  around.focus = [null, null, 'b2']
  stage.reopen()
  const third = motion.camera
  expect(third.x).toBeLessThan(first.x - 1000)
  expect(third.zoom).toBe(1)
  motion.isHeld = true
  around.focus = [null, null, 'b1']
  stage.reopen()
  expect(motion.camera).toBe(third)
})

test('a picture that was hidden is where it was, though it gets its width back before its height', () => {
  const { stage, motion } = staged({ focus: ['b1', null, null] })
  ;[stage.width, stage.height] = [390, 500]
  stage.receive(viewOf(), laid({ boxes: row(3, 700), width: 2000, height: 3000 }))
  const [{ camera }, { room }] = [motion, stage]
  for (const [width, height] of [[0, 500], [0, 0], [390, 0], [390, 500]]) {
    ;[stage.width, stage.height] = [width!, height!]
    stage.reopen()
    expect(stage.room).toBe(room)
  }
  expect(motion.camera).toBe(camera)
})

test('what the reader does to one picture happens to the one next to it', () => {
  const [left, right] = [staged({ abreast: 2 }), staged({ abreast: 2 })]
  right.motion.camera = { x: 100, y: 20, zoom: 1 }
  left.motion.hold({ x: 10, y: -30, zoom: 2 })
  expect(right.motion.camera).toEqual({ x: 210, y: 10, zoom: 2 })
  expect(right.motion.isHeld).toBe(true)
  expect(left.motion.camera.zoom).toBe(2)
  for (const { stage } of [left, right]) stage.close()
})

test('a picture that the reader has moved stays while the box of the step is in view, and then moves least', () => {
  const { stage, motion } = staged()
  ;[stage.width, stage.height] = [700, 500]
  stage.receive(viewOf(), laid({ boxes: row(14, 300) }))
  const mine = { x: -100, y: 5, zoom: 1 }
  motion.camera = mine
  motion.isHeld = true
  for (const id of ['b0', 'b1', 'b2', 'b1', 'b0']) stage.keepUp(id)
  expect(motion.camera).toBe(mine)
  stage.keepUp('b3')
  expect(motion.camera).toEqual({ ...mine, x: 700 - 16 - 1100 })
  motion.camera = mine
  for (const id of [null, 'b4', 'b5']) stage.keepUp(id)
  expect(motion.camera).toBe(mine)
  stage.keepUp('b5', true)
  expect(motion.camera.x).toBeLessThan(-700)
  motion.isHeld = false
  stage.keepUp('b0')
  expect(motion.camera.x).toBeGreaterThanOrEqual(0)
})

test('for an audience all of it is shown where that can be read, and else it is large', () => {
  const layout = { boxes: row(3, 0), width: 400, height: 450 }
  expect(opened({ width: 900, height: 588 }, layout, { large: true, railed: false }).zoom).toBeCloseTo(1.253)
  expect(opened({ width: 900, height: 300 }, layout, { large: true, railed: false }).zoom).toBe(LARGE)
})

test('in another pass of a run the camera stays where the reader has put it', () => {
  const { stage, motion } = staged()
  ;[stage.width, stage.height] = [700, 500]
  stage.receive(viewOf(), laid({ boxes: row(14, 300) }))
  motion.camera = { x: -900, y: -300, zoom: 2 }
  const again = row(14, 300).map((one) => ({ ...one, id: `c${one.id}`, x: one.x + 10 }))
  stage.receive(viewOf('n2'), laid({ boxes: again }))
  expect(motion.camera).toEqual({ x: -920, y: -300, zoom: 2 })
  motion.camera = { x: 9000, y: 0, zoom: 2 }
  stage.receive(viewOf('n3'), laid({ boxes: row(14, 300) }))
  expect(motion.camera.zoom).toBe(1)
})
