// The large view of a tensor, handed down by the page: small views anywhere in it open it.

import { getContext, setContext } from 'svelte'
import type TensorView from '../inspector/TensorView.svelte'
import type { Parts } from '../state/playground'

export interface LargeViews extends Parts<'run' | 'view'> {
  /** A chunk of its own. */
  View(): Promise<{ default: typeof TensorView }>
}

const KEY = 'large views'

export function offerLargeViews(views: LargeViews): void {
  setContext(KEY, views)
}

/** None in an embed. */
export function largeViews(): LargeViews | undefined {
  return getContext<LargeViews | undefined>(KEY)
}
