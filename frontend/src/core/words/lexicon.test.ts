import { expect, test } from 'vitest'
import { loadWords } from './lexicon'

const TITLE = 'finding.cut_by_detach.title'

test('a language comes without the sentences of findings until they are asked for', async () => {
  for (const lang of ['en', 'zh'] as const) {
    const bare = await loadWords(lang, false)
    const whole = await loadWords(lang, true)
    expect([bare.has('run'), bare.has(TITLE), bare(TITLE)]).toEqual([true, false, TITLE])
    expect([whole.has('run'), whole.has(TITLE), whole('run')]).toEqual([true, true, bare('run')])
  }
})

test('words that were fetched once are the same words', async () => {
  expect(await loadWords('zh', true)).toBe(await loadWords('zh', true))
  expect(await loadWords('zh', false)).not.toBe(await loadWords('en', false))
})
