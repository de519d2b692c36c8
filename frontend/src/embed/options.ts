// What a teacher may say in an embed's address: which run, where it opens, what it hides.

import type { Lang, Level, Theme } from '../core/state'

export interface EmbedOptions {
  run: string | null
  step: number | null
  lang: Lang
  theme: Theme
  level: Level
  hideCode: boolean
  /** Line of the program whose boxes stand out. */
  highlight: number | null
}

/** Reads an embed's path and query; what makes no sense takes its default. */
export function embedOptions(path: string, search: string, readerLanguage: string): EmbedOptions {
  const query = new URLSearchParams(search)
  const run = /^\/embed\/([^/]+)\/?$/.exec(path)?.[1]
  const lang = query.get('lang')
  const theme = query.get('theme')
  const level = query.get('level')
  return {
    run: run ? decodeURIComponent(run) : null,
    step: numberIn(query.get('step')),
    lang: lang === 'zh' || lang === 'en' ? lang : readerLanguage.toLowerCase().startsWith('zh') ? 'zh' : 'en',
    theme: theme === 'light' || theme === 'dark' ? theme : 'auto',
    level: level === 'forward' || level === 'autograd' ? level : 'both',
    hideCode: (query.get('hide') ?? '').split(',').includes('code'),
    highlight: numberIn(query.get('highlight')),
  }
}

function numberIn(said: string | null): number | null {
  return said !== null && /^\d{1,9}$/.test(said) ? Number(said) : null
}
