import { expect, test, vi } from 'vitest'
import { Pointer } from './pointer.svelte'
import type { Camera } from './camera'
import type { Motion } from './motion.svelte'

function held() {
  const motion = { camera: { x: 100, y: 50, zoom: 1 }, hold: (to: Camera) => void (motion.camera = to) }
  const heard = { hover: vi.fn(), click: vi.fn(), leavesWheel: () => false }
  const pointer = new Pointer(motion as unknown as Motion, heard)
  const place = { left: 0, top: 0 }
  const svg = { addEventListener: vi.fn(), setPointerCapture: vi.fn(), getBoundingClientRect: () => place }
  pointer.listen(svg as unknown as SVGSVGElement)
  const tell = (what: 'down' | 'move' | 'up', pointerId: number, clientX: number, clientY: number) =>
    pointer[what]({ button: 0, pointerId, clientX, clientY, type: `pointer${what}` } as PointerEvent)
  return { motion, heard, pointer, tell }
}

test('two fingers that move together move the graph', () => {
  const { motion, tell } = held()
  tell('down', 1, 100, 100)
  tell('down', 2, 200, 100)
  tell('move', 1, 50, 160)
  tell('move', 2, 150, 160)
  expect(motion.camera).toEqual({ x: 50, y: 110, zoom: 1 })
})

test('two fingers that part enlarge the graph about the point between them', () => {
  const { motion, tell } = held()
  tell('down', 1, 100, 100)
  tell('down', 2, 200, 100)
  tell('move', 1, 50, 100)
  tell('move', 2, 250, 100)
  expect(motion.camera).toEqual({ x: 50, y: 0, zoom: 2 })
})

test('of two fingers the one that stays moves the graph on, and is no click when it leaves', () => {
  const { motion, heard, pointer, tell } = held()
  tell('down', 1, 100, 100)
  tell('down', 2, 200, 100)
  tell('up', 1, 100, 100)
  expect(motion.camera).toEqual({ x: 100, y: 50, zoom: 1 })
  tell('move', 2, 230, 90)
  expect(motion.camera).toEqual({ x: 130, y: 40, zoom: 1 })
  tell('up', 2, 230, 90)
  expect(pointer.isDown).toBe(false)
  expect(heard.click).not.toHaveBeenCalled()
})

test('a press that only trembles is a click', () => {
  const { motion, heard, tell } = held()
  tell('down', 1, 100, 100)
  tell('move', 1, 102, 101)
  tell('up', 1, 102, 101)
  expect(heard.click).toHaveBeenCalledOnce()
  expect(motion.camera).toEqual({ x: 100, y: 50, zoom: 1 })
})
