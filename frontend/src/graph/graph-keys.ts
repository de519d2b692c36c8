// The graph's keys: arrows walk along the edges, the others act on what has the tab stop.

import type { Layout } from '../core/layout/geometry'
import type { Arrow } from './arrow-keys'

export interface GraphActions {
  /** Where an arrow leads; null for nowhere. */
  move(id: string | null): void
  choose(id: string): void
  enter(id: string, alike: boolean): void
  escape(id: string | null): void
  fit(): void
  zoomBy(factor: number): void
}

/** `stop` holds the tab stop. */
export function graphKey(event: KeyboardEvent, layout: Layout, stop: string | null, actions: GraphActions): void {
  if (event.ctrlKey || event.metaKey) return
  const { key } = event
  if (key.startsWith('Arrow') && stop !== null) void walk(layout, stop, key as Arrow, actions)
  else if (key === 'Enter' && stop !== null) actions.enter(stop, event.altKey)
  else if (key === ' ' && stop !== null) actions.choose(stop)
  else if (key === 'f') actions.fit()
  else if (key === '+' || key === '=') actions.zoomBy(1.25)
  else if (key === '-') actions.zoomBy(0.8)
  else if (key === 'Escape') actions.escape(stop)
  else return
  event.preventDefault()
  event.stopPropagation()
}

/** The way along the edges is a chunk of its own: most readers have a pointer. */
async function walk(layout: Layout, from: string, arrow: Arrow, actions: GraphActions): Promise<void> {
  const { neighbour } = await import('./arrow-keys')
  actions.move(neighbour(layout, from, arrow))
}
