// The stage: the layout that is on screen, and what the camera does on its own when another one arrives, when a graph
// opens and when a step is followed.

import { untrack } from 'svelte'
import { standIn } from '../core/layout/fold'
import { around } from '../core/layout/extent'
import type { Layout, Placed, Rect } from '../core/layout/geometry'
import { EMBED, stubsWidth, TAIL, type Room } from '../core/paint/measure'
import type { View } from '../core/paint/view'
import {
  fitted, fitZoom, leastCut, mostWhole, opened, overlaps, showing, windowOf, zoomAt, type Camera, type Viewport,
} from './camera'
import { isAlike } from './steady'
import type { Motion } from './motion.svelte'

/** What the component around it knows. */
export interface Around {
  /** Whether a minimap stands at the right of what does not fit. */
  readonly railed: boolean
  readonly abreast: number
  /** For an audience: all is drawn larger. */
  readonly large: boolean
  /** What something that lies over the picture leaves of it. */
  readonly clear: (() => Viewport | undefined) | undefined
  readonly expanded: ReadonlySet<string> | null
  /** What to open at: the selection, or else the box of the step. */
  readonly focus: readonly (string | null)[]
}

export const LARGE = 1.3
const LARGEST = 2
/** What a line over the graph takes: nothing moves for it. */
const NOTICE = 32
/** What stays around something that is told of. */
export const BARE = 16

export class Stage {
  layout: Layout | null = $state.raw(null)
  view: View | null = $state.raw(null)
  width = $state(0)
  height = $state(0)
  protected readonly motion: Motion
  protected readonly around: () => Around
  /** The group whose header stays where it is while it opens or folds. */
  private anchor: string | null = null
  private openedSize = ''
  private openedAs = ''
  /** The camera that the graph was opened with; the reader's moves make another. */
  private openedAt: Camera | null = null
  private openedIn: Viewport = { width: 0, height: 0 }

  readonly viewport: Viewport = $derived.by(() => ({ width: this.width, height: this.height }))
  readonly isPhone: boolean = $derived.by(() => this.width > 0 && this.width < 480)
  /** Wide enough for palettes and a minimap. */
  readonly roomy: boolean = $derived.by(() => this.width >= 560)
  readonly open: ReadonlySet<string> = $derived.by(() => this.around().expanded ?? new Set(this.layout?.open))
  readonly bounds: Rect = $derived.by(() => {
    const { x = 0, y = 0, width: w = 1, height: h = 1 } = this.layout ?? {}
    return { x, y, w, h }
  })

  constructor(motion: Motion, around: () => Around) {
    this.motion = motion
    this.around = around
  }

  /** What a view is measured for. */
  get room(): Room {
    return EMBED
  }

  receive(next: View, placed: Layout): void {
    const { layout: old, motion } = this
    const { camera } = motion
    const [was, { run, root, level }] = [this.view?.sheet.graph, next.sheet.graph]
    const isSameGraph = was === next.sheet.graph
    const { anchor } = this
    const held = anchor !== null && old ? headerPoint(old, anchor) : null
    const now = anchor !== null ? headerPoint(placed, anchor) : null
    this.anchor = null
    this.view = next
    if (placed !== old) this.layout = placed
    const isSameRun = was?.run === run && was.level === level
    const opens = !isSameRun || was.root !== root
    // Another pass of a run: what the reader looks at stays.
    const isPass = opens && isSameRun && !this.isAsOpened
    if (old && (isPass || isAlike(old, placed)) && this.isInView(placed.boxes)) {
      motion.jump(standing(camera, old, placed, this.around().focus))
      if (isPass) this.keepUp(this.around().focus[1]!)
    } else if (opens) this.openView()
    else if (isSameGraph && old && held && now) {
      const [dx, dy] = [(held.x - now.x) * camera.zoom, (held.y - now.y) * camera.zoom]
      const kept = { ...camera, x: camera.x + dx, y: camera.y + dy }
      const frame = placed.frames.find(({ id }) => id === anchor)
      const inside = frame && placed.boxes.filter((box) => overlaps(box, frame))
      // only sideways, and only where what was unfolded would be cut
      const { x } = inside ? showing(kept, around(inside), this.viewport, BARE) : kept
      motion.slide({ ...kept, x }, old)
    } else if (!isSameGraph && this.around().large && this.isAsOpened) this.openView()
    else if (!isSameGraph || placed !== old) this.keepUp(this.around().focus.at(isSameGraph ? 0 : -1) ?? null)
  }

  /** Whether the camera shows one of some boxes. */
  protected isInView(boxes: readonly Rect[]): boolean {
    const seen = windowOf(this.motion.camera, this.viewport, 0)
    return boxes.some((box) => overlaps(box, seen))
  }

  /** In a window of another size: opens again where it came later than the layout, shows it in another way now, or
   *  nobody has moved the graph since it opened; else what is told of stays in view. */
  reopen(): void {
    const [opensAs, size] = [this.opensAs(), this.size()]
    // what is hidden has no size, and gets its width back before its height
    if (!this.width || !this.height || size === this.openedSize || !this.layout) return
    untrack(() => {
      if (opensAs !== this.openedAs || this.isAnotherRoom) return this.openView()
      this.openedSize = size
      this.follow(this.around().focus.slice(0, 2).find((id) => id !== null) ?? null)
    })
  }

  protected get isAnotherRoom(): boolean {
    const { width, height } = this.openedIn
    return this.isAsOpened &&
      Math.max(Math.abs(this.width - width), Math.abs(this.height - height)) > NOTICE
  }

  /** Whether nobody has moved the graph; before an audience, where it moves with the steps, whether nobody zoomed. */
  protected get isAsOpened(): boolean {
    const { motion: { camera }, openedAt } = this
    return this.around().large ? camera.zoom === openedAt?.zoom : camera === openedAt
  }

  protected size(): string {
    return `${this.width}×${this.height}`
  }

  private opensAs(): string {
    const { abreast, large } = this.around()
    return `${abreast} ${large}`
  }

  /** All is drawn as large as it is meant to be read, and larger for an audience. */
  protected get scales(): readonly [least: number, most: number] {
    return this.around().large ? [LARGE, LARGEST] : [1, 1]
  }

  /** The least scale of what is seen whole: its numbers can still be read. */
  protected get leastWhole(): number {
    return Math.min(1, this.scales[0])
  }

  /** Keeps a group's header where it is when the next layout comes. */
  hold(group: string): void {
    this.anchor = group
  }

  headerOf(group: string): { x: number; y: number } | null {
    return this.layout && headerPoint(this.layout, group)
  }

  /** Where something stands: itself, or the folded group it is in. */
  placeOf(id: string | null): Placed | null {
    const { layout, view } = this
    if (!layout || !view || id === null) return null
    const shown = standIn(view.sheet, id, this.open)
    return layout.boxes.find((box) => box.id === shown) ?? layout.frames.find((frame) => frame.id === shown) ?? null
  }

  /** Brings the box of a step into view; where the reader has moved the picture, only what is out of it. `went`: they
   *  asked for a step further away. */
  keepUp(id: string | null, _went?: boolean): void {
    const box = this.placeOf(id)
    const { isHeld } = this.motion
    if (box && !(isHeld && this.isInView([box]))) this.follow(id, isHeld ? BARE : undefined)
  }

  /** Brings something into view. */
  follow(id: string | null, margin?: number): void {
    const room = this.around().clear?.() ?? this.viewport
    const target = this.placeOf(id)
    const { camera } = this.motion
    const next = target && this.width > 0 ? showing(camera, target, room, margin, this.bounds) : camera
    if (next !== camera) this.motion.slide(this.motion.isHeld ? next : this.uncut(next, room, target!))
  }

  zoomBy(factor: number): void {
    const { camera } = this.motion
    this.motion.hold(zoomAt(camera, camera.zoom * factor, this.width / 2, this.height / 2))
  }

  fit(): void {
    this.motion.slide(fitted(this.bounds, this.viewport, this.scales[1]))
  }

  close(): void {
    this.motion.stop()
  }

  protected openView(): void {
    const { bounds, layout, viewport, scales: [, most] } = this
    if (this.width === 0 || !layout?.boxes.length) return
    const [wanted = layout.boxes[0]!] = this.around().focus.flatMap((id) => this.placeOf(id) ?? [])
    const fits = fitZoom(bounds, viewport) >= this.leastWhole
    const camera = fits ? fitted(bounds, viewport, most) : this.opening(wanted)
    const clear = this.around().clear?.()
    this.openedAt = clear ? showing(camera, wanted, clear, BARE) : camera
    this.motion.jump(this.openedAt)
    this.motion.isHeld = false
    this.openedIn = viewport
    this.openedSize = this.size()
    this.openedAs = this.opensAs()
  }

  /** As a graph opens that does not fit: at what is wanted, and what stands whole with it in a window. */
  protected opening(
    wanted: Placed, room = this.viewport, seen = this.wholeWith(wanted, room), sight = around(seen),
  ): Camera {
    const camera = opened(this.bounds, room, sight, this.scales[0])
    return this.isPhone && seen.length === 1 ? camera : this.uncut(camera, room, sight)
  }

  protected wholeWith(wanted: Placed | null, room: Viewport): readonly Rect[] {
    const { sheet: { groups }, measure: { story } } = this.view!
    const isRoot = ({ id }: Placed) => (groups.has(id) ? story.rootIn(id) : story.hasSeed(id))
    const seeded = (box: Placed): Placed => (isRoot(box) ? { ...box, h: box.h + TAIL } : box)
    const read = this.layout!.boxes.filter((box) => box === wanted || !this.view!.isUnread(box.id))
    return wanted && this.around().focus[0]
      ? [wanted]
      : mostWhole(read.map(seeded), wanted && seeded(wanted), room, this.scales[0])
  }

  private uncut(camera: Camera, room: Viewport, wanted: Rect): Camera {
    const { measure } = this.view!
    const boxes = this.layout!.boxes.map((box) => ({ ...box, beside: stubsWidth(box.id, measure) }))
    return leastCut(camera, boxes, room, wanted)
  }
}

/** The camera that shows a box where it was in another layout of the same parts: the first of those wanted, or else of
 *  all. */
function standing(camera: Camera, old: Layout, { boxes }: Layout, wanted: readonly (string | null)[]): Camera {
  const at = Math.max(0, boxes.findIndex(({ id }) => wanted.includes(id)))
  const [before, after] = [old.boxes[at], boxes[at]]
  if (!before || !after || old.boxes.length !== boxes.length) return camera
  const dx = before.x + before.w / 2 - after.x - after.w / 2
  return { ...camera, x: camera.x + dx * camera.zoom, y: camera.y + (before.y - after.y) * camera.zoom }
}

function headerPoint(placed: Layout, group: string): { x: number; y: number } | null {
  const frame = placed.frames.find((candidate) => candidate.id === group)
  if (frame) return { x: frame.title_x, y: frame.y }
  const box = placed.boxes.find((candidate) => candidate.id === group)
  return box ? { x: box.x + 8, y: box.y } : null
}
