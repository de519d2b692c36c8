import { expect, test } from 'vitest'
import { covers, leastCut, mostWhole, opened, showing } from './camera'

const box = (x: number, y: number) => ({ x, y, w: 100, h: 40 })

test('a place of the window covers what stands under it at this zoom, and what stands beside it', () => {
  const camera = { x: 10, y: 20, zoom: 0.5 }
  const place = { x: 60, y: 20, w: 50, h: 50 }
  expect(covers(place, [box(90, 10)], camera)).toBe(true)
  expect(covers(place, [box(-10, 0)], camera)).toBe(true) // its right edge is at 55, its step under the place
  expect(covers(place, [box(260, 0)], camera)).toBe(true) // its left edge is at 140, its constants under the place
  expect(covers(place, [box(300, 0)], camera)).toBe(false)
  expect(covers(place, [box(-40, 0)], camera)).toBe(false)
  expect(covers(place, [], camera)).toBe(false)
})

const view = { width: 600, height: 400 }

test('what is wanted is seen, with as many others as are whole beside it', () => {
  const boxes = [box(0, 0), box(0, 100), box(0, 200), box(500, 300), box(900, 300)]
  expect(mostWhole(boxes, boxes[0]!, view, 1)).toEqual(boxes.slice(0, 3))
  expect(mostWhole(boxes, boxes[3]!, view, 1)).toEqual(boxes.slice(3))
  const wide = { ...box(0, 100), w: 700 }
  expect(mostWhole([wide, ...boxes], wide, view, 1)).toEqual([wide])
})

test('of more boxes than can be read only that one', () => {
  const boxes = Array.from({ length: 300 }, (_, at) => box(2 * at, 0))
  expect(mostWhole(boxes, boxes[9]!, view, 1)).toEqual([boxes[9]])
})

test('a graph wider and higher than the window opens at what is to be seen, and shows nothing beyond its edge', () => {
  const bounds = { x: 0, y: 0, w: 1600, h: 1900 }
  expect(opened(bounds, view, { x: 900, y: 800, w: 100, h: 200 })).toEqual({ x: -650, y: -700, zoom: 1 })
  expect(opened(bounds, view, box(0, 1860))).toEqual({ x: 12, y: -1512, zoom: 1 })
})

const phone = { width: 390, height: 500 }
const still = { x: 0, y: 0, zoom: 1 }
const standing = (x: number, w: number, beside = 0) => ({ x, y: 10, w, h: 40, beside })

test('constants beside a box come into view where there is room for both', () => {
  expect(leastCut(still, [standing(64, 272, 94)], phone).x).toBe(38)
  expect(leastCut(still, [standing(100, 200, 60)], phone)).toEqual(still)
})

test('of a box wider than the window its name is shown, and no less of the others than that takes', () => {
  expect(leastCut(still, [standing(-60, 480)], phone).x).toBe(48)
  expect(leastCut(still, [standing(-60, 480), standing(20, 355), standing(20, 355)], phone).x).toBe(48)
  expect(leastCut({ ...still, zoom: 2 }, [standing(-30, 240)], phone).x).toBe(28)
})

test('a box beside the one that is to be seen is cut no more than that takes', () => {
  const wanted = standing(70, 210)
  expect(leastCut(still, [wanted, standing(-40, 160)], phone, wanted).x).toBe(48)
  expect(leastCut(still, [wanted, standing(-300, 360), standing(-300, 360)], phone, wanted).x).toBe(102)
})

test('what is out of view anyway moves nothing', () => {
  expect(leastCut(still, [standing(20, 200), standing(400, 200), { ...standing(-50, 100), y: 900 }], phone)).toEqual(
    still,
  )
})

test('around what comes into view a margin is kept, but none beyond the edge of the graph', () => {
  const bounds = { x: 0, y: 0, w: 500, h: 380 }
  expect(showing(still, box(200, 0), view)).toEqual({ ...still, y: 48 })
  expect(showing({ ...still, y: 10 }, box(200, 0), view, 48, bounds)).toEqual({ ...still, y: 12 })
  expect(showing({ ...still, y: 12 }, box(200, 340), view, 48, bounds)).toEqual({ ...still, y: 8 })
  expect(showing({ ...still, y: -100 }, box(200, 100), view, 48, bounds)).toEqual({ ...still, y: -52 })
})
