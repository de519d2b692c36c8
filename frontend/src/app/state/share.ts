// What is handed on: the address that shows what is on screen, and the HTML a teacher pastes into a course page.

import * as api from '../../api/client'
import type { ViewState } from '../../core/state'
import { START, encodeState } from '../../core/address'

/** The view as the address keeps it. The language is always named: a reader's own must not replace it. */
export function addressOf(view: ViewState): string {
  return `#${encodeState(view, { ...START, lang: view.lang === 'zh' ? 'en' : 'zh' })}`
}

/** A plain frame that works alone, without scripts on the course page. */
export function embedCode(origin: string, run: string, view: ViewState, title: string): string {
  const query = new URLSearchParams({ step: String(view.step), lang: view.lang })
  if (view.level !== 'both') query.set('level', view.level)
  return `<iframe src="${origin}${api.embedUrl(run)}?${query.toString().replaceAll('&', '&amp;')}" title="${title}" width="100%" height="460" style="border:0" loading="lazy"></iframe>`
}
