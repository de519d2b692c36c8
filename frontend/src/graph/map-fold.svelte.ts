// Whether the map of a graph folds: where it would cover what is on screen, until a button under the picture asks for
// it.

import { around } from '../core/layout/extent'
import type { Rect } from '../core/layout/geometry'
import { windowOf, type Camera, type Viewport } from './camera'
import type { Stage } from './stage.svelte'

class MapFold {
  /** It has no room of its own. */
  crowded = $state(false)
  wanted = $state(false)
}

const known = new WeakMap<Stage, MapFold>()

/** That of the graph on a stage. */
export function mapFold(stage: Stage): MapFold {
  const found = known.get(stage) ?? new MapFold()
  known.set(stage, found)
  return found
}

/** Whether all boxes of a graph are in the window, be it that they touch its edges: then a map of it says nothing. */
export function isAllSeen(boxes: readonly Rect[], camera: Camera, viewport: Viewport): boolean {
  const seen = windowOf(camera, viewport, 1)
  const both = around([seen, ...boxes])
  return both.w <= seen.w && both.h <= seen.h
}
