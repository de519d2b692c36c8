// What a teacher may say in an embed's address: which run, where it opens, what it hides.

import { decodeState, LAST, START, wholeNumber } from '../core/address'
import type { ViewState } from '../core/state'

/** `slides`: nothing but the graph, larger, a press a step; `edit`: the reader may change the program, where the
 *  operator lets them. */
type Mode = 'read' | 'slides' | 'edit'

/** What it opens at, with an infinite step for the end; and how it shows that. */
export interface EmbedOptions extends ViewState {
  mode: Mode
  hideCode: boolean
  hidePlayer: boolean
  /** Whether what the program asks is asked. */
  asks: boolean
  /** Whether the words of its lesson stand with it. */
  tells: boolean
  /** Line of the program whose boxes stand out. */
  highlight: number | null
}

/** What a run opens at that nothing is said of. */
export const END: ViewState = { ...START, step: LAST }

/** Reads an embed's path and query, which says a view as the page's address does; what makes no sense takes its
 *  default, or what the snapshot says. */
export function embedOptions(
  path: string, search: string, readerLanguage: string, snapshot: ViewState | null,
): EmbedOptions {
  const query = new URLSearchParams(search)
  const run = /^\/embed\/([^/]+)\/?$/.exec(path)?.[1]
  const mode = query.get('mode')
  const hidden = (query.get('hide') ?? '').split(',')
  const own = readerLanguage.toLowerCase().startsWith('zh') ? 'zh' : 'en'
  return {
    ...decodeState(search, snapshot ?? { ...END, lang: own }),
    run: run ? decodeURIComponent(run) : null,
    mode: mode === 'slides' || mode === 'edit' ? mode : 'read',
    hideCode: mode === 'slides' || hidden.includes('code'),
    hidePlayer: mode === 'slides' || hidden.includes('player'),
    asks: query.get('questions') !== 'off',
    tells: query.has('lesson'),
    highlight: wholeNumber(query.get('highlight')),
  }
}
