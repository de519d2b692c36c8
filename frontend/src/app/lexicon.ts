// The word list of one language at a time, fetched when it is first shown.

import { wordsOf, type Words } from '../core/sentences'
import type { Lang } from '../core/state'

const loaded = new Map<Lang, Words>()

export async function loadWords(lang: Lang): Promise<Words> {
  let found = loaded.get(lang)
  if (!found) {
    const { default: list } = lang === 'zh' ? await import('../../words/zh.json') : await import('../../words/en.json')
    loaded.set(lang, (found = wordsOf(list)))
  }
  return found
}
