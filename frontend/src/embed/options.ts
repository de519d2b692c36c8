// What a teacher may say in an embed's address: which run, where it opens, what it hides.

import type { Lang, Level, Selection, Theme, ViewState } from '../core/state'

/** `slides`: nothing but the graph, larger, a press a step; `edit`: the reader may change the program, where the
 *  operator lets them. */
export type Mode = 'read' | 'slides' | 'edit'

export interface EmbedOptions {
  run: string | null
  step: number | null
  lang: Lang
  theme: Theme
  level: Level
  mode: Mode
  hideCode: boolean
  hidePlayer: boolean
  /** What a snapshot has open and selected. */
  expanded: ReadonlySet<string> | null
  selection: Selection | null
  /** Line of the program whose boxes stand out. */
  highlight: number | null
}

/** Reads an embed's path and query; what makes no sense takes its default, or what the snapshot says. */
export function embedOptions(
  path: string, search: string, readerLanguage: string, snapshot: ViewState | null,
): EmbedOptions {
  const query = new URLSearchParams(search)
  const run = /^\/embed\/([^/]+)\/?$/.exec(path)?.[1]
  const lang = query.get('lang')
  const theme = query.get('theme')
  const level = query.get('level')
  const mode = query.get('mode')
  const hidden = (query.get('hide') ?? '').split(',')
  const own = readerLanguage.toLowerCase().startsWith('zh') ? 'zh' : 'en'
  return {
    run: run ? decodeURIComponent(run) : null,
    step: numberIn(query.get('step')) ?? snapshot?.step ?? null,
    lang: lang === 'zh' || lang === 'en' ? lang : (snapshot?.lang ?? own),
    theme: theme === 'light' || theme === 'dark' ? theme : (snapshot?.theme ?? 'auto'),
    level: level === 'forward' || level === 'autograd' ? level : (snapshot?.level ?? 'both'),
    expanded: snapshot?.expanded ?? null,
    selection: snapshot?.selection ?? null,
    mode: mode === 'slides' || mode === 'edit' ? mode : 'read',
    hideCode: mode === 'slides' || hidden.includes('code'),
    hidePlayer: mode === 'slides' || hidden.includes('player'),
    highlight: numberIn(query.get('highlight')),
  }
}

function numberIn(said: string | null): number | null {
  return said !== null && /^\d{1,9}$/.test(said) ? Number(said) : null
}
