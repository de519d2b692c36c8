// What a page was opened on.

import { fromKept } from '../../core/address'
import type { ViewState } from '../../core/state'

/** The view of the snapshot that a page was opened on, as the server wrote it into the page; null on other pages. */
export function openedSnapshot(path: string, page: Document): ViewState | null {
  const id = /^\/(?:s|embed)\/(\w+)$/.exec(path)?.[1]
  const view = page.querySelector<HTMLMetaElement>('meta[name="gradgraph-view"]')?.content
  return id && view ? fromKept(id, view) : null
}
