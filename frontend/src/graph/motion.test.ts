// @vitest-environment happy-dom
import { expect, test, vi } from 'vitest'
import { Motion } from './motion.svelte'

test('what the camera was on its way to is forgotten when it is set elsewhere', () => {
  const frames: FrameRequestCallback[] = []
  vi.stubGlobal('requestAnimationFrame', (frame: FrameRequestCallback) => frames.push(frame))
  vi.stubGlobal('cancelAnimationFrame', (id: number) => (frames[id - 1] = () => undefined))
  const motion = new Motion()
  motion.slide({ x: -900, y: -900, zoom: 1 })
  motion.jump({ x: 10, y: 20, zoom: 0.8 })
  for (const frame of frames) frame(performance.now() + 1000)
  expect(motion.camera).toEqual({ x: 10, y: 20, zoom: 0.8 })
  vi.unstubAllGlobals()
})

test('steps that come faster than it slides are seen all the same', () => {
  vi.stubGlobal('requestAnimationFrame', () => 1)
  vi.stubGlobal('cancelAnimationFrame', () => undefined)
  const motion = new Motion()
  motion.slide({ x: -900, y: -900, zoom: 1 })
  expect(motion.camera).toEqual({ x: 0, y: 0, zoom: 1 })
  motion.slide({ x: -1800, y: -900, zoom: 1 })
  expect(motion.camera).toEqual({ x: -1800, y: -900, zoom: 1 })
  vi.unstubAllGlobals()
})
