import { expect, test } from 'vitest'
import { covers, firstSight, leastCut, opened } from './camera'

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

test('a first screenful that is narrow enough is shown whole', () => {
  expect(firstSight([box(0, 0), box(500, 60), box(500, 120), box(2000, 900)], view, 0.7)).toEqual({
    x: 0, y: 0, w: 600, h: 0,
  })
  expect(firstSight([], view, 0.7)).toBeNull()
})

test('of a wider one the column most boxes stand in', () => {
  const boxes = [box(0, 0), ...Array.from({ length: 30 }, (_, at) => box(900, 60 * at + 60))]
  expect(firstSight(boxes, view, 0.7)).toMatchObject({ x: 950, y: 0 })
  const camera = opened({ x: 0, y: 0, w: 1600, h: 1900 }, view, firstSight(boxes, view, 0.7), 0.7)
  const left = 900 * camera.zoom + camera.x
  expect(left).toBeGreaterThan(0)
  expect(left + 100 * camera.zoom).toBeLessThan(view.width)
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
