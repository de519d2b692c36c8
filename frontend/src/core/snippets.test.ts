import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { PLACES, SNIPPETS, type Shared } from './snippets'

const PAGE = readFileSync(new URL('../../../docs/embedding.md', import.meta.url), 'utf8')
const IN_DOCS: Shared = { host: 'HOST', id: 'ID', step: 7, lang: 'en', theme: 'auto' }

test('docs/embedding.md shows each as the page writes it', () => {
  const shown = [...PAGE.matchAll(/<!-- share: (\w+) -->\n(`{3,})\w+\n(.*?)\n\2\n/gs)]
  const written = Object.fromEntries(shown.map(([, name, , text]) => [name, text]))
  expect(written).toEqual(Object.fromEntries(PLACES.map((place) => [place, SNIPPETS[place](IN_DOCS)])))
})

describe.each(PLACES)('%s', (place) => {
  test('opens as the snapshot does', () => {
    const text = SNIPPETS[place]({ host: 'https://h.example', id: 'k3', step: 41, lang: 'zh', theme: 'dark' })
    expect(text).toContain('k3')
    if (/<iframe|<gradgraph-embed/.test(text)) {
      for (const part of [/step="?41/, /lang="?zh/]) expect(text).toMatch(part)
      expect(text.includes('theme=dark')).toBe(text.includes('<iframe'))
      expect(text).not.toMatch(/&(?!amp;)/)
    }
  })

  test('leaves the colours to the reader where the snapshot does', () => {
    expect(SNIPPETS[place](IN_DOCS).replace('?theme=light', '')).not.toContain('theme') // but on paper
  })
})
