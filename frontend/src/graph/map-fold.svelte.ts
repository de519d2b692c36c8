// Whether the map of a graph folds: where it would cover what is on screen, until a button under the picture asks for
// it.

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
