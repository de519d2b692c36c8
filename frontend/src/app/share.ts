// The HTML a teacher pastes into a course page: a plain frame that works alone.

import * as api from '../api/client'
import type { ViewState } from '../core/state'

export function embedCode(origin: string, run: string, view: ViewState, title: string): string {
  const query = new URLSearchParams({ step: String(view.step), lang: view.lang })
  if (view.level !== 'both') query.set('level', view.level)
  return `<iframe src="${origin}${api.embedUrl(run)}?${query.toString().replaceAll('&', '&amp;')}" title="${title}" width="100%" height="460" style="border:0" loading="lazy"></iframe>`
}
