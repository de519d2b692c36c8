// The word list of one language at a time, fetched when it is first shown. The sentences of findings are most of it:
// they are a list of their own, fetched for the first run that needs them.

import { wordsOf, type Words } from './sentences'
import type { Lang } from '../state'

type List = Readonly<Record<string, string>>

const loaded = new Map<string, Words>()

/** The words of a language; without the sentences of findings they come as their keys. */
export async function loadWords(lang: Lang, findings: boolean): Promise<Words> {
  const name = findings ? `${lang} findings` : lang
  let found = loaded.get(name)
  if (!found) {
    const [list, more] = await Promise.all([listOf(lang), findings ? findingsOf(lang) : {}])
    loaded.set(name, (found = wordsOf({ ...list, ...more })))
  }
  return found
}

async function listOf(lang: Lang): Promise<List> {
  return (lang === 'zh' ? await import('../../../words/zh.json') : await import('../../../words/en.json')).default
}

async function findingsOf(lang: Lang): Promise<List> {
  return (
    lang === 'zh' ? await import('../../../words/findings/zh.json') : await import('../../../words/findings/en.json')
  ).default
}
