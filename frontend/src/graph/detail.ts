// How much of a graph is drawn, so that the page stays within its node budget.

/** Nodes in the DOM a full drawing costs, measured on lesson and model graphs; erring high. */
const COST = { box: 26, wire: 9 }
const MOST_NODES = 1300
/** From this zoom on all can be read: numbers are worth more nodes then. */
const NEAR = 0.8
const MANY_TIMES = 9
/** Below this zoom text is too small to read. */
const READABLE = 0.42

type Detail = 'full' | 'plain' | 'map'

export function detailFor(zoom: number, boxes: number, wires: number): Detail {
  const nodes = boxes * COST.box + wires * COST.wire
  if (zoom >= READABLE && nodes <= MOST_NODES * (zoom < NEAR ? 1 : MANY_TIMES)) return 'full'
  return boxes <= 300 && zoom >= 0.12 ? 'plain' : 'map'
}
