// Lays out off the page's thread.

import type { LayoutInput } from '../core/layout/geometry'
import { layout } from '../core/layout/layout'
import type { Answer } from './layout-source'

self.onmessage = (event: MessageEvent<{ id: number; input: LayoutInput }>) => {
  const { id, input } = event.data
  self.postMessage(answer(id, input))
}

function answer(id: number, input: LayoutInput): Answer {
  try {
    return { id, layout: layout(input) }
  } catch (error) {
    return { id, failure: error instanceof Error ? error.message : String(error) }
  }
}
