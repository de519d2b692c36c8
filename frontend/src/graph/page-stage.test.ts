import { expect, test } from 'vitest'
import type { Layout } from '../core/layout/geometry'
import type { View } from '../core/paint/view'
import { NAME, type Camera } from './camera'
import type { Motion } from './motion.svelte'
import { PageStage } from './page-stage'
import { LARGE, type Around } from './stage.svelte'

const box = (id: string, x: number, y: number, w = 200) => ({ id, x, y, w, h: 60 })
const row = (n: number, step: number) => Array.from({ length: n }, (_, at) => box(`b${at}`, at * step, at * 90))

interface Size {
  width: number
  height: number
}

function staged(known: Partial<Around> = {}): { stage: PageStage; motion: { camera: Camera } } {
  const move = (next: Camera) => void (motion.camera = next)
  const motion = { camera: { x: 0, y: 0, zoom: 1 }, jump: move, slide: move }
  const desk = { abreast: 1, widest: 0, railed: true, large: false, clear: undefined, expanded: null }
  const focus = [null, null, 'b0']
  return { stage: new PageStage(motion as unknown as Motion, () => ({ ...desk, focus, ...known })), motion }
}

function viewOf(root = 'n1'): View {
  const story = { index: { trace: { failure: null, findings: [] } } }
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

test('of a large model of which hardly a box could be read there is a map, where its names can be', () => {
  const boxes = row(14, 300)
  expect(opened({ width: 700, height: 500 }, { boxes, width: 1500, height: 1000 })).toMatchObject({ zoom: 0.41 })
  expect(opened({ width: 700, height: 500 }, { boxes, width: 4000, height: 900 })).toMatchObject({ zoom: 1 })
})

test('on a phone it opens where most can be read, unless something is wrong elsewhere', () => {
  const boxes = [box('b0', 2000, 2000), ...Array.from({ length: 14 }, (_, at) => box(`c${at}`, 500, at * 90))]
  const phone = { width: 390, height: 500 }
  expect([boxes, boxes.slice(0, 6)].map((some) => opened(phone, { boxes: some }).y > -200)).toEqual([true, true])
  expect(opened(phone, { boxes: boxes.slice(0, 3) }).y).toBeLessThan(-1500)
})

test('beside another graph it is as wide as its pane', () => {
  const [layout, known] = [{ boxes: row(3, 0), width: 416, height: 900 }, { abreast: 2, widest: 416, railed: false }]
  expect(opened({ width: 360, height: 300 }, layout, known).zoom).toBeCloseTo(0.825)
  expect(opened({ width: 200, height: 300 }, layout, known).zoom).toBe(0.7)
})

test('it is as large as the one beside it, also where that came later, until the reader moves it', () => {
  const around = { abreast: 2, widest: 300, railed: false }
  const { stage, motion } = staged(around)
  ;[stage.width, stage.height] = [360, 300]
  stage.receive(viewOf(), laid({ boxes: row(3, 0), width: 300, height: 900 }))
  expect(motion.camera.zoom).toBe(1)
  around.widest = 416
  stage.reopen()
  expect(motion.camera.zoom).toBeCloseTo(0.825)
  motion.camera = { ...motion.camera, zoom: 0.9 }
  around.widest = 460
  stage.reopen()
  expect(motion.camera.zoom).toBe(0.9)
})

test('for an audience all of it is shown where that can be read, and else it is large', () => {
  const layout = { boxes: row(3, 0), width: 400, height: 450 }
  expect(opened({ width: 900, height: 588 }, layout, { large: true, railed: false }).zoom).toBeCloseTo(1.2)
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
