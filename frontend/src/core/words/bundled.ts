// Words a person reads: every sentence lives in words/{zh,en}.json, those of findings in words/findings/{zh,en}.json,
// under the same key. Both languages at once, for pictures drawn without a page; a page loads what it shows
// (lexicon.ts).

import en from '../../../words/en.json'
import enFindings from '../../../words/findings/en.json'
import zhFindings from '../../../words/findings/zh.json'
import zh from '../../../words/zh.json'
import { wordsOf, type Values, type Words as FullWords } from './sentences'
import type { Lang } from '../state'

export type { Values } from './sentences'
/** All that a drawing needs of the word lists. */
export type Words = (key: string, values?: Values) => string

const lists: Readonly<Record<Lang, FullWords>> = {
  zh: wordsOf({ ...zh, ...zhFindings }), en: wordsOf({ ...en, ...enFindings }),
}

export function words(lang: Lang): FullWords {
  return lists[lang]
}
