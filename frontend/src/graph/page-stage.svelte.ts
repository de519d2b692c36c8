// How a graph too large for its window opens on a page: beside its minimap, with the beginnings of the groups around
// what is seen.

import { untrack } from 'svelte'
import { around } from '../core/layout/extent'
import type { Layout, Placed, Rect } from '../core/layout/geometry'
import type { Room } from '../core/paint/measure'
import { PAGE, PHONE, TIGHTER } from '../core/paint/annotations'
import type { View } from '../core/paint/view'
import { edgeOf, fitZoom, mostWhole, NAME, NARROW_EDGE, overlaps, RAIL, type Camera, type Viewport } from './camera'
import type { Motion } from './motion.svelte'
import { Stage, type Around } from './stage.svelte'
import { isAlike } from './steady'

/** Of more than two pictures next to each other a box is as wide as its pane. */
const ABREAST = 0.8
/** What stands around a graph, as its legend, is there so soon after it. */
const SETTLED_MS = 1000
/** All that stand on the page. */
const stages = new Set<PageStage>()

const ROOMS = [PAGE, ...TIGHTER]

export class PageStage extends Stage {
  private tightness = $state(0)
  private readonly isSeen = $derived.by(() => this.width > 0)
  private seenIn: Room = PAGE
  /** The latest graph, and whether it is still tried how much it must be tightened to be seen whole. */
  private tried: Layout | null = null
  private isTrying = false
  /** The window that it was tried in, and whether it is tried in another one. */
  private triedIn = ''
  private isTriedAgain = false
  /** How tight it was when most of its boxes were seen whole, and how many those were. */
  private best = 0
  private most = 0
  /** When the graph opened. */
  private begunAt = 0
  /** Where the last step was. */
  private kept: string | null = null

  constructor(motion: Motion, around: () => Around) {
    super(motion, around)
    stages.add(this)
    const hold = motion.hold.bind(motion)
    motion.hold = (to) => {
      if (around().abreast > 1) for (const other of stages) if (other !== this) other.moveAlong(motion.camera, to)
      hold(to)
    }
  }

  /** What it was last seen in: what is hidden has no size, and is not laid out anew for that. */
  override get room(): Room {
    if (this.isSeen) this.seenIn = this.isPhone ? PHONE : ROOMS[this.tightness]!
    return this.seenIn
  }

  override receive(next: View, placed: Layout): void {
    const isLesson = next.measure.density === 'lesson'
    if (this.width > 0 && !this.isPhone && (isLesson ? this.tightens(placed) : this.loosens())) return
    const opensAgain = this.isTriedAgain && this.settles
    this.isTriedAgain = false
    super.receive(next, placed)
    if (opensAgain) this.openView()
  }

  /** What was tried in a window that has changed since is tried again. */
  override reopen(): void {
    const size = this.size()
    untrack(() => {
      if (!this.tried || size === this.triedIn || !(this.isTrying || this.settles)) return
      this.tried = null
      this.isTriedAgain = true
      this.tightness = Number(this.tightness === 0)
    })
    super.reopen()
  }

  /** Whether it has just opened, and nobody has moved it. */
  private get settles(): boolean {
    return this.isAsOpened && !this.motion.isHeld && performance.now() - this.begunAt < SETTLED_MS
  }

  /** Whether another layout is asked for: of a small graph that is too large for the window the loosest that fits, or
   *  else the loosest of which most boxes are seen whole. While numbers change it stays as it was. */
  private tightens(placed: Layout): boolean {
    const { tightness } = this
    const { x, y, width: w, height: h } = placed
    if (!isAlike(this.tried, placed)) {
      this.isTrying = true
      this.tightness = this.most = 0
      if (tightness === 0) [this.tried, this.triedIn] = [placed, this.size()]
    }
    if (this.tightness === tightness && this.isTrying) {
      const fits = fitZoom({ x, y, w, h }, this.viewport) >= this.leastWhole
      const seen = fits ? Infinity : mostWhole(placed.boxes, null, this.viewport, this.scales[0]).length
      if (seen > this.most) [this.most, this.best] = [seen, tightness]
      this.isTrying = !fits && tightness + 1 < ROOMS.length
      this.tightness = this.isTrying ? tightness + 1 : this.best
    }
    return this.tightness !== tightness
  }

  /** Whether another layout is asked for: of what is no small graph the loosest, however the one before was drawn. */
  private loosens(): boolean {
    const isTight = this.tightness > 0
    this.tightness = 0
    this.tried = null
    return isTight
  }

  override close(): void {
    super.close()
    stages.delete(this)
  }

  /** Moves as the reader has moved the picture next to it. */
  private moveAlong(from: Camera, to: Camera): void {
    const { camera } = this.motion
    const ratio = to.zoom / from.zoom
    const [x, y] = [to.x + (camera.x - from.x) * ratio, to.y + (camera.y - from.y) * ratio]
    this.motion.jump({ x, y, zoom: camera.zoom * ratio })
    this.motion.isHeld = true
  }

  protected override get scales(): readonly [least: number, most: number] {
    return this.around().abreast > 2 ? [ABREAST, ABREAST] : super.scales
  }

  /** Who looks elsewhere than at the last step stays there, unless it is where they went. */
  override keepUp(id: string | null, went?: boolean): void {
    const was = this.placeOf(this.kept)
    if (id !== null && this.placeOf(id)) this.kept = id
    if (!this.motion.isHeld || went || !was || this.isInView([was])) super.keepUp(id)
  }

  protected override openView(): void {
    super.openView()
    this.begunAt = performance.now()
    this.kept = this.around().focus.find((id) => id !== null) ?? null
  }

  protected override size(): string {
    const { abreast, focus } = this.around()
    return abreast > 1 ? `${super.size()} ${focus[2]}` : super.size()
  }

  /** Pictures next to each other are at the same place; what has just opened stands as if its window had been as it is
   *  now, whatever was shown before. */
  protected override get isAnotherRoom(): boolean {
    return super.isAnotherRoom || this.settles || (this.around().abreast > 1 && !this.motion.isHeld)
  }

  /** Pictures next to each other have what they open at in the middle, so that it stands at one height. */
  protected override wholeWith(wanted: Placed | null, room: Viewport): readonly Rect[] {
    return wanted && this.around().abreast > 1 ? [wanted] : super.wholeWith(wanted, room)
  }

  protected override opening(wanted: Placed): Camera {
    const { bounds, viewport } = this
    const { railed } = this.around()
    // Beside what is no wider than the window there is room at some height.
    const isWide = bounds.w > viewport.width - 2 * edgeOf(viewport)
    const free = { ...viewport, width: viewport.width - (railed && isWide && this.roomy ? RAIL : 0) }
    const [whole, narrow] = [this.wholeWith(wanted, viewport), this.wholeWith(wanted, free)]
    // The minimap folds where more boxes are whole without it.
    const [room, seen] = whole.length > narrow.length ? [viewport, whole] : [free, narrow]
    return this.begun(wanted, seen, room)
  }

  /** With the names of groups, as far as there is room. */
  private begun(wanted: Placed, seen: readonly Rect[], room: Viewport): Camera {
    const sight = around(seen)
    const [end, most] = [sight.x + sight.w, room.width / this.scales[0] - NARROW_EDGE]
    const begun = this.layout!.frames
      .filter((frame) => overlaps(frame, sight))
      .flatMap(({ title_x }) => [title_x, title_x + NAME].find((x) => end - x <= most) ?? [])
    const x = Math.min(sight.x, ...begun)
    return super.opening(wanted, room, seen, { ...sight, x, w: end - x })
  }
}
