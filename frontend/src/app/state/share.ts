// What is handed on: the address that shows what is on screen.

import * as api from '../../api/client'
import type { ViewState } from '../../core/state'
import { START } from '../../core/address'
import { encodeState } from '../../core/address-text'

/** The view as the address keeps it. The language is always named: a reader's own must not replace it. */
export function addressOf(view: ViewState): string {
  return `#${encodeState(view, { ...START, lang: view.lang === 'zh' ? 'en' : 'zh' })}`
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
