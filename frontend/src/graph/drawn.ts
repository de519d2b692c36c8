// What the playground draws graphs with: a chunk of its own, and one that follows it.

import { PAGE, PHONE } from '../core/paint/annotations'
import { PageStage } from './page-stage'

export { default as Graph } from './Graph.svelte'
export { LayoutClient } from './layout-client'
export const rooms = { PAGE, PHONE, Stage: PageStage }
export const aids = import('./aids')
void import('./Overview.svelte') // there before a reader zooms out
