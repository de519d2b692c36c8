// What the playground draws graphs with: a chunk of its own, and one that follows it.

export { default as Graph } from './Graph.svelte'
export { LayoutClient } from './layout-client'
export * as rooms from '../core/paint/annotations'
export const aids = import('./aids')
void import('./Overview.svelte') // there before a reader zooms out
