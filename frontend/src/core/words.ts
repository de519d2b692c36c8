// Words a person reads: every sentence lives in words/{zh,en}.json under the same key.

import en from '../../words/en.json'
import zh from '../../words/zh.json'
import type { Lang } from './state'

export type Key = keyof typeof zh
export type Values = Readonly<Record<string, string | number>>
/** Looks a sentence up and puts the values into it. A key that is unknown (a server newer than the page) comes back as itself. */
export type Words = (key: Key | (string & {}), values?: Values) => string

const lists: Record<Lang, Readonly<Record<string, string>>> = { zh, en }

/**
 * Fills `{name}` with a value and `{n|one|many}` with the form that fits the number: English needs two, Chinese one.
 */
export function fill(sentence: string, values: Values = {}): string {
  return sentence.replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (whole, name: string, one?: string, many?: string) => {
    const value = values[name]
    if (value === undefined) return whole
    if (one === undefined || many === undefined) return String(value)
    return Number(value) === 1 ? one : many
  })
}

export function words(lang: Lang): Words {
  const list = lists[lang]
  return (key, values) => fill(list[key] ?? key, values)
}

export function hasWords(key: string): boolean {
  return key in zh
}

export type Piece = { kind: 'text' | 'strong' | 'code'; text: string }

/** Splits the two marks a sentence may carry, **strong** and `code`. */
export function pieces(sentence: string): Piece[] {
  const found: Piece[] = []
  for (const part of sentence.split(/(\*\*[^*]+\*\*|`[^`]+`)/)) {
    if (part.startsWith('**') && part.length > 4) found.push({ kind: 'strong', text: part.slice(2, -2) })
    else if (part.startsWith('`') && part.length > 2) found.push({ kind: 'code', text: part.slice(1, -1) })
    else if (part !== '') found.push({ kind: 'text', text: part })
  }
  return found
}
