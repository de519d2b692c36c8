// The large view of a tensor, handed down by the page: small views anywhere in it open it.

import { getContext, setContext, type Component } from 'svelte'
import type { Tensor } from '../../api/types'
import type { Parts } from '../state/playground'

interface Props extends Parts<'run' | 'view'> {
  tensor: Tensor
  tone: 'ink' | 'grad'
  facts: boolean
}

interface LargeViews extends Parts<'run' | 'view'> {
  /** A chunk of its own. */
  View(): Promise<{ default: Component<Props> }>
}

const KEY = 'large views'

export function offerLargeViews(views: LargeViews): void {
  setContext(KEY, views)
}

/** None in an embed. */
export function largeViews(): LargeViews | undefined {
  return getContext<LargeViews | undefined>(KEY)
}
