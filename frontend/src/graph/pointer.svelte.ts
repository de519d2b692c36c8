// The pointer over the graph: dragging, pinching and the wheel move the camera; a press that stays in place is a click.

import { zoomAt, type Camera } from './camera'
import type { Motion } from './motion.svelte'

interface Heard {
  hover(event: PointerEvent): void
  click(event: PointerEvent): void
  /** Whether the wheel scrolls the page around unless a key is held. */
  leavesWheel(): boolean
}

interface Drag {
  x: number
  y: number
  from: Camera
  moved: boolean
}

/** Shorter ways are a trembling hand. */
const LEAST_DRAG = 4
const LINE_PX = 16

export class Pointer {
  private readonly motion: Motion
  private readonly heard: Heard
  private drag: Drag | null = $state.raw(null)
  private readonly pointers = new Map<number, { x: number; y: number }>()
  private pinch: { distance: number; zoom: number } | null = null
  private svg: SVGSVGElement | null = null

  constructor(motion: Motion, heard: Heard) {
    this.motion = motion
    this.heard = heard
  }

  get isDown(): boolean {
    return this.drag !== null
  }

  get isDragging(): boolean {
    return this.drag?.moved ?? false
  }

  /** Listens to the picture; the answer stops that. */
  listen(svg: SVGSVGElement): () => void {
    this.svg = svg
    svg.addEventListener('wheel', this.wheel, { passive: false })
    return () => svg.removeEventListener('wheel', this.wheel)
  }

  /** The point of the graph under an event. */
  worldAt(event: { clientX: number; clientY: number }): { x: number; y: number } {
    const { x, y, zoom } = this.motion.camera
    const at = this.inPicture(event.clientX, event.clientY)
    return { x: (at.x - x) / zoom, y: (at.y - y) / zoom }
  }

  readonly down = (event: PointerEvent): void => {
    if (event.button !== 0) return
    const { camera } = this.motion
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY })
    if (this.pointers.size === 2) {
      this.pinch = { distance: this.spread(), zoom: camera.zoom }
      this.drag = null
      return
    }
    this.drag = { x: event.clientX, y: event.clientY, from: camera, moved: false }
  }

  readonly move = (event: PointerEvent): void => {
    if (this.pointers.has(event.pointerId))
      this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY })
    if (this.pinch && this.pointers.size === 2) this.zoomByPinch(this.pinch)
    else if (this.drag) this.follow(this.drag, event)
    else this.heard.hover(event)
  }

  readonly up = (event: PointerEvent): void => {
    const wasDrag = this.drag?.moved ?? this.pinch !== null
    const pressed = this.drag
    this.pointers.delete(event.pointerId)
    if (this.pointers.size < 2) this.pinch = null
    this.drag = null
    if (!wasDrag && pressed && event.type !== 'pointercancel') this.heard.click(event)
  }

  private readonly wheel = (event: WheelEvent): void => {
    const zooming = event.ctrlKey || event.metaKey
    if (this.heard.leavesWheel() && !zooming) return
    event.preventDefault()
    this.motion.stop()
    const { camera } = this.motion
    const unit = event.deltaMode === 1 ? LINE_PX : 1
    if (!zooming) {
      this.motion.camera = { ...camera, x: camera.x - event.deltaX * unit, y: camera.y - event.deltaY * unit }
      return
    }
    const at = this.inPicture(event.clientX, event.clientY)
    const factor = Math.max(0.8, Math.min(1.25, Math.exp(-event.deltaY * unit * 0.004)))
    this.motion.camera = zoomAt(camera, camera.zoom * factor, at.x, at.y)
  }

  private follow(drag: Drag, event: PointerEvent): void {
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y]
    if (!drag.moved && Math.hypot(dx, dy) < LEAST_DRAG) return
    if (!drag.moved) this.svg!.setPointerCapture(event.pointerId)
    this.drag = { ...drag, moved: true }
    this.motion.camera = { ...drag.from, x: drag.from.x + dx, y: drag.from.y + dy }
  }

  private zoomByPinch({ distance, zoom }: { distance: number; zoom: number }): void {
    const [a, b] = [...this.pointers.values()]
    const middle = this.inPicture((a!.x + b!.x) / 2, (a!.y + b!.y) / 2)
    this.motion.camera = zoomAt(this.motion.camera, (zoom * this.spread()) / distance, middle.x, middle.y)
  }

  private spread(): number {
    const [a, b] = [...this.pointers.values()]
    return a && b ? Math.hypot(a.x - b.x, a.y - b.y) : 1
  }

  private inPicture(x: number, y: number): { x: number; y: number } {
    const rect = this.svg!.getBoundingClientRect()
    return { x: x - rect.left, y: y - rect.top }
  }
}
