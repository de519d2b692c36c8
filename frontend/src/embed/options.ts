// What a teacher may say in an embed's address: which run, where it opens, what it hides.

import type { Lang, Level, Theme } from '../core/state'

export interface EmbedOptions {
  run: string | null
  step: number | null
  lang: Lang
  theme: Theme
  level: Level
  hideCode: boolean
}

/** Reads an embed's path and query; what makes no sense takes its default. */
export function embedOptions(path: string, search: string, readerLanguage: string): EmbedOptions {
  const query = new URLSearchParams(search)
  const run = /^\/embed\/([^/]+)\/?$/.exec(path)?.[1]
  const step = query.get('step')
  const lang = query.get('lang')
  const theme = query.get('theme')
  const level = query.get('level')
  return {
    run: run ? decodeURIComponent(run) : null,
    step: step !== null && /^\d{1,9}$/.test(step) ? Number(step) : null,
    lang: lang === 'zh' || lang === 'en' ? lang : readerLanguage.toLowerCase().startsWith('zh') ? 'zh' : 'en',
    theme: theme === 'light' || theme === 'dark' ? theme : 'auto',
    level: level === 'forward' || level === 'autograd' ? level : 'both',
    hideCode: (query.get('hide') ?? '').split(',').includes('code'),
  }
}
