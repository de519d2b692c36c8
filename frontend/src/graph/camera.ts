// The camera over the graph: world to screen, zoom about a point, fits, and the ways it moves on its own.

import type { Rect } from '../core/layout/geometry'

export interface Camera {
  /** Screen position of the world's origin. */
  x: number
  y: number
  zoom: number
}

export interface Viewport {
  width: number
  height: number
}

const LEAST_ZOOM = 0.01
const MOST_ZOOM = 4
const EDGE = 12
/** On a phone every pixel counts. */
const NARROW = 480
export const NARROW_EDGE = 8

export function edgeOf({ width }: Pick<Viewport, 'width'>): number {
  return width < NARROW ? NARROW_EDGE : EDGE
}

export function zoomAt(camera: Camera, zoom: number, x: number, y: number): Camera {
  const next = Math.max(LEAST_ZOOM, Math.min(MOST_ZOOM, zoom))
  const ratio = next / camera.zoom
  return { x: x - (x - camera.x) * ratio, y: y - (y - camera.y) * ratio, zoom: next }
}

export function fitZoom(bounds: Rect, view: Viewport): number {
  const edge = edgeOf(view)
  return Math.min((view.width - 2 * edge) / Math.max(1, bounds.w), (view.height - 2 * edge) / Math.max(1, bounds.h))
}

/** The whole graph, enlarged no further than `most`. */
export function fitted(bounds: Rect, view: Viewport, most = 1): Camera {
  const zoom = Math.max(LEAST_ZOOM, Math.min(most, fitZoom(bounds, view)))
  return centred(bounds, view, zoom)
}

/** As a graph that does not fit opens: at what is to be seen. */
export function opened(bounds: Rect, view: Viewport, sight: Rect, zoom = 1): Camera {
  return held(centred(sight, view, zoom), bounds, view)
}

/** Width at the right that the minimap takes. */
export const RAIL = 156

/** Room of the steps at the right of a box, and of the constants at its left. */
const BESIDE = { right: 36, left: 92 }

/** Whether any of the things on screen, or what stands beside it, lies under a rectangle of the window. */
export function covers(place: Rect, boxes: readonly Rect[], camera: Camera): boolean {
  const under = {
    x: (place.x - camera.x) / camera.zoom - BESIDE.right, y: (place.y - camera.y) / camera.zoom,
    w: place.w / camera.zoom + BESIDE.right + BESIDE.left, h: place.h / camera.zoom,
  }
  return boxes.some((box) => overlaps(box, under))
}

/** What a graph too large for the window opens at: what is wanted, and as many boxes as stand whole in one window with
 *  it. */
export function mostWhole(boxes: readonly Rect[], wanted: Rect | null, view: Viewport, zoom: number): readonly Rect[] {
  const [w, h] = [view.width / zoom - NARROW_EDGE, view.height / zoom - NARROW_EDGE]
  let most: readonly Rect[] = wanted ? [wanted] : []
  if (boxes.length > MANY) return most
  for (const { x } of boxes)
    for (const { y } of boxes) {
      const isWhole = (box: Rect) => x <= box.x && box.x + box.w <= x + w && y <= box.y && box.y + box.h <= y + h
      const whole = !wanted || isWhole(wanted) ? boxes.filter(isWhole) : most
      if (whole.length > most.length) most = whole
    }
  return most
}

/** Keeps the graph's edge at the window's edge instead of showing emptiness beyond it. */
function held({ x, y, zoom }: Camera, bounds: Rect, view: Viewport): Camera {
  const edge = edgeOf(view)
  const along = (at: number, start: number, length: number, room: number): number => {
    const first = edge - start * zoom
    const last = room - edge - (start + length) * zoom
    return last > first ? (first + last) / 2 : Math.max(Math.min(at, first), last)
  }
  return { x: along(x, bounds.x, bounds.w, view.width), y: along(y, bounds.y, bounds.h, view.height), zoom }
}

function centred(bounds: Rect, view: Viewport, zoom: number): Camera {
  return {
    x: view.width / 2 - (bounds.x + bounds.w / 2) * zoom, y: view.height / 2 - (bounds.y + bounds.h / 2) * zoom, zoom,
  }
}

/** The smallest move that brings something into view, with a margin of what is around it in the picture; the same
 *  camera when it already is. */
export function showing(camera: Camera, target: Rect, view: Viewport, margin = 48, bounds?: Rect): Camera {
  const { zoom } = camera
  const edge = edgeOf(view)
  const moved = (
    at: number, start: number, length: number, room: number, first = -Infinity, last = Infinity,
  ): number => {
    const [from, size] = [at + start * zoom, length * zoom]
    const before = Math.min(margin, (start - first) * zoom + edge)
    const after = Math.min(margin, (last - start - length) * zoom + edge)
    if (size + before + after > room) return (room - size) / 2 - from
    if (from < before) return before - from
    return Math.min(0, room - after - size - from)
  }
  const dx = moved(camera.x, target.x, target.w, view.width, bounds?.x, bounds && bounds.x + bounds.w)
  const dy = moved(camera.y, target.y, target.h, view.height, bounds?.y, bounds && bounds.y + bounds.h)
  return dx === 0 && dy === 0 ? camera : { x: camera.x + dx, y: camera.y + dy, zoom }
}

/** Something that stands in the picture, with what stands at its left. */
export interface Standing extends Rect {
  beside?: number
}

/** Names begin so far from the left of a box, behind its icon, and in it count more than the rest. */
export const NAME = 20
const MORE = 3
/** Of more boxes than these none can be read. */
const MANY = 120

/** Moved sideways to where the window cuts off least of what it shows, and no more of what is to be seen. */
export function leastCut(camera: Camera, standing: readonly Standing[], view: Viewport, wanted?: Rect | null): Camera {
  const { zoom } = camera
  const [from, to] = [edgeOf(view), view.width - edgeOf(view)]
  const window = windowOf(camera, view, 0)
  const seen = standing.filter((box) => overlaps(box, window))
  if (seen.length > MANY) return camera
  const cutOf = ({ x: left, w, beside = 0 }: Standing, x: number): number => {
    const over = (end: number, most: number): number => Math.max(0, Math.min(most, end / zoom))
    const start = from - x - left * zoom
    return over(start, w) + MORE * over(start - NAME * zoom, w) + over(start + beside * zoom, beside) +
      over(w * zoom - start + from - to, w)
  }
  const cut = (x: number): number =>
    wanted && cutOf(wanted, x) > cutOf(wanted, camera.x)
      ? Infinity
      : seen.reduce((sum, box) => sum + cutOf(box, x), 0)
  const x = seen
    .flatMap(({ x: left, w, beside = 0 }) => [
      ...[left, left + NAME, left - beside].map((at) => from - at * zoom), to - (left + w) * zoom,
    ])
    .sort((a, b) => Math.abs(a - camera.x) - Math.abs(b - camera.x))
    .reduce((best, x) => (cut(x) < cut(best) ? x : best), camera.x)
  return { ...camera, x }
}

/** The part of the world on screen, with a margin in screen pixels. */
export function windowOf(camera: Camera, view: Viewport, margin: number): Rect {
  return {
    x: (-margin - camera.x) / camera.zoom,
    y: (-margin - camera.y) / camera.zoom,
    w: (view.width + 2 * margin) / camera.zoom,
    h: (view.height + 2 * margin) / camera.zoom,
  }
}

export function between(a: Camera, b: Camera, share: number): Camera {
  return { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share, zoom: a.zoom + (b.zoom - a.zoom) * share }
}

export function overlaps(a: Rect, b: Rect): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
}
