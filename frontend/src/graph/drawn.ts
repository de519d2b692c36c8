// What the playground draws graphs with: a chunk of its own, and one that follows it.

export { default as Graph } from './Graph.svelte'
export { LayoutClient } from './layout-client'
export { PageStage } from './page-stage.svelte'
export const aids = import('./aids')
void import('./Overview.svelte') // there before a reader zooms out
