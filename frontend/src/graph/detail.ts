// How much of a graph is drawn, so that the page stays within its node budget.

/** Nodes in the DOM a full drawing costs, measured on lesson and model graphs; erring high. */
const COST = { box: 26, wire: 9, frame: 5 }
const MOST_NODES = 1300
/** Below this zoom text is too small to read. */
export const READABLE = 0.42

type Detail = 'full' | 'plain' | 'map'

export function detailFor(zoom: number, boxes: number, wires: number, frames: number): Detail {
  if (zoom >= READABLE && boxes * COST.box + wires * COST.wire + frames * COST.frame <= MOST_NODES) return 'full'
  return boxes <= 300 && zoom >= 0.12 ? 'plain' : 'map'
}
