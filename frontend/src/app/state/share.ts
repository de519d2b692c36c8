// What is handed on: the address that shows what is on screen.

import * as api from '../../api/client'
import type { ViewState } from '../../core/state'
import { START, encodeState, fromKept } from '../../core/address'

/** The view as the address keeps it. The language is always named: a reader's own must not replace it. */
export function addressOf(view: ViewState): string {
  return `#${encodeState(view, { ...START, lang: view.lang === 'zh' ? 'en' : 'zh' })}`
}

/** The view of the snapshot that a page was opened on, as the server wrote it into the page; null on other pages. */
export function openedSnapshot(path: string, page: Document): ViewState | null {
  const id = /^\/(?:s|embed)\/(\w+)$/.exec(path)?.[1]
  const view = page.querySelector<HTMLMetaElement>('meta[name="gradgraph-view"]')?.content
  return id && view ? fromKept(id, view) : null
}

/** The path and hash of a view: a class stays in its room; a snapshot has its own as long as its run is on screen, and
 *  nothing after it as it was opened. */
export function placeOf(view: ViewState, snapshot: ViewState | null): string {
  const address = addressOf(view)
  if (location.pathname.startsWith('/r/')) return location.pathname + address
  if (snapshot === null || view.run !== snapshot.run) return `/${address}`
  const path = api.snapshotUrl(snapshot.run!)
  return address === addressOf(snapshot) ? path : path + address
}
