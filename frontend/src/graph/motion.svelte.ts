// The camera in motion: it slides to what is to be seen, and boxes glide from their old places to new ones.

import type { Layout, Placed } from '../core/layout/geometry'
import { between, type Camera } from './camera'

const GLIDE_MS = 160
const SLIDE_MS = 200

export class Motion {
  camera: Camera = $state.raw({ x: 0, y: 0, zoom: 1 })
  /** How far boxes have come on their way: 0 … 1. */
  share = $state(1)
  private before: ReadonlyMap<string, Placed> = new Map()
  private frame = 0
  /** Whether the reader has moved it since the picture opened. */
  isHeld = false

  /** Stays where it is, with every box at its place. */
  stop(): void {
    cancelAnimationFrame(this.frame)
    this.frame = 0
    this.share = 1
  }

  /** Stands at once where it is to be, whatever way it was on. */
  jump(camera: Camera): void {
    this.stop()
    this.camera = camera
  }

  /** Stands where the reader moves it. */
  hold(camera: Camera): void {
    this.jump(camera)
    this.isHeld = true
  }

  /** Moves the camera; where another layout was on screen, boxes glide along. Where it is still on its way to something
   *  else it stands there at once: it would never arrive behind steps that come faster than it. */
  slide(target: Camera, old: Layout | null = null): void {
    if (this.frame || matchMedia('(prefers-reduced-motion)').matches) return this.jump(target)
    const start = this.camera
    this.before = new Map((old?.boxes ?? []).map((box) => [box.id, box]))
    const began = performance.now()
    const duration = old ? GLIDE_MS : SLIDE_MS
    if (old) this.share = 0
    const tick = (now: number): void => {
      const share = Math.min(1, (now - began) / duration)
      const eased = 1 - (1 - share) ** 2
      this.camera = between(start, target, eased)
      if (old) this.share = eased
      this.frame = share < 1 ? requestAnimationFrame(tick) : 0
    }
    this.frame = requestAnimationFrame(tick)
  }

  /** Where something stands now that is to stand at (x, y). */
  transform({ id, x, y }: { id: string; x: number; y: number }): string {
    const from = this.share < 1 ? this.before.get(id) : undefined
    if (!from) return `translate(${x} ${y})`
    return `translate(${from.x + (x - from.x) * this.share} ${from.y + (y - from.y) * this.share})`
  }
}
