import { expect, test } from 'vitest'
import { isAllSeen } from './map-fold.svelte'

test('of a graph that is whole in the window, be it up to its edges, nothing is left for a map to show', () => {
  const bounds = [{ x: 10, y: 0, w: 300, h: 80 }, { x: 310, y: 250, w: 300, h: 50 }]
  const view = { width: 600, height: 400 }
  const camera = { x: -10, y: 20, zoom: 1 }
  expect(isAllSeen(bounds, camera, view)).toBe(true)
  expect(isAllSeen(bounds, { ...camera, x: -20 }, view)).toBe(false)
  expect(isAllSeen(bounds, { ...camera, zoom: 1.1 }, view)).toBe(false)
  expect(isAllSeen(bounds, { ...camera, x: 0, zoom: 0.5 }, view)).toBe(true)
})
