// The pointer over the graph: dragging, pinching and the wheel move the camera; a press that stays in place is a click.

import { zoomAt, type Camera } from './camera'
import type { Motion } from './motion.svelte'

interface Heard {
  hover(event: PointerEvent): void
  click(event: PointerEvent): void
  /** Whether the wheel scrolls the page around unless a key is held. */
  leavesWheel(): boolean
}

interface Point {
  x: number
  y: number
}

/** Where the fingers are: of two, the middle between them and how far they are apart. */
interface Fingers extends Point {
  spread: number
}

/** What the fingers that are down move the camera from. */
interface Hold extends Fingers {
  from: Camera
  moved: boolean
}

/** Shorter ways are a trembling hand. */
const LEAST_DRAG = 4
const LINE_PX = 16

export class Pointer {
  private readonly motion: Motion
  private readonly heard: Heard
  private hold: Hold | null = $state.raw(null)
  private readonly pointers = new Map<number, Point>()
  private svg: SVGSVGElement | null = null

  constructor(motion: Motion, heard: Heard) {
    this.motion = motion
    this.heard = heard
  }

  get isDown(): boolean {
    return this.hold !== null
  }

  get isDragging(): boolean {
    return this.hold?.moved ?? false
  }

  /** Listens to the picture; the answer stops that. */
  listen(svg: SVGSVGElement): () => void {
    this.svg = svg
    svg.addEventListener('wheel', this.wheel, { passive: false })
    return () => svg.removeEventListener('wheel', this.wheel)
  }

  /** The point of the graph under an event. */
  worldAt(event: { clientX: number; clientY: number }): Point {
    const { x, y, zoom } = this.motion.camera
    const at = this.inPicture(event.clientX, event.clientY)
    return { x: (at.x - x) / zoom, y: (at.y - y) / zoom }
  }

  readonly down = (event: PointerEvent): void => {
    if (event.button !== 0) return
    this.put(event)
    this.grasp(this.pointers.size > 1)
  }

  readonly move = (event: PointerEvent): void => {
    if (this.pointers.has(event.pointerId)) this.put(event)
    if (this.hold) this.follow(this.hold)
    else this.heard.hover(event)
  }

  readonly up = (event: PointerEvent): void => {
    const isClick = this.hold?.moved === false && event.type !== 'pointercancel'
    this.pointers.delete(event.pointerId)
    this.hold = null
    if (this.pointers.size > 0) this.grasp(true)
    else if (isClick) this.heard.click(event)
  }

  private readonly wheel = (event: WheelEvent): void => {
    const zooming = event.ctrlKey || event.metaKey
    if (this.heard.leavesWheel() && !zooming) return
    event.preventDefault()
    const { camera } = this.motion
    const unit = event.deltaMode === 1 ? LINE_PX : 1
    if (!zooming) {
      this.motion.hold({ ...camera, x: camera.x - event.deltaX * unit, y: camera.y - event.deltaY * unit })
      return
    }
    const at = this.inPicture(event.clientX, event.clientY)
    const factor = Math.max(0.8, Math.min(1.25, Math.exp(-event.deltaY * unit * 0.004)))
    this.motion.hold(zoomAt(camera, camera.zoom * factor, at.x, at.y))
  }

  private put({ pointerId, clientX: x, clientY: y }: PointerEvent): void {
    this.pointers.set(pointerId, { x, y })
  }

  /** Begins anew with the fingers that are down; those of which one came or went move at once. */
  private grasp(moved: boolean): void {
    this.hold = { from: this.motion.camera, ...this.fingers(), moved }
    if (moved) this.capture()
  }

  private follow(hold: Hold): void {
    const { from, x, y } = hold
    const now = this.fingers()
    const [dx, dy] = [now.x - x, now.y - y]
    if (!hold.moved) {
      if (Math.hypot(dx, dy) < LEAST_DRAG) return
      this.hold = { ...hold, moved: true }
      this.capture()
    }
    const at = this.inPicture(x, y)
    const camera = zoomAt(from, (from.zoom * now.spread) / hold.spread, at.x, at.y)
    this.motion.hold({ ...camera, x: camera.x + dx, y: camera.y + dy })
  }

  /** What a finger began on may leave the picture while it moves. */
  private capture(): void {
    for (const id of this.pointers.keys()) this.svg!.setPointerCapture(id)
  }

  private fingers(): Fingers {
    const [a, b = a] = [...this.pointers.values()]
    return { x: (a!.x + b!.x) / 2, y: (a!.y + b!.y) / 2, spread: Math.hypot(a!.x - b!.x, a!.y - b!.y) || 1 }
  }

  private inPicture(x: number, y: number): Point {
    const rect = this.svg!.getBoundingClientRect()
    return { x: x - rect.left, y: y - rect.top }
  }
}
