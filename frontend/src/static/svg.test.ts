// @vitest-environment happy-dom
import { describe, expect, test } from 'vitest'
import { load, NAMES } from '../core/fixtures/load'
import './svg'

function draw(name: (typeof NAMES)[number], options: object = {}): string {
  const { trace, graph } = load(name)
  return globalThis.gradgraphSvg(JSON.stringify(trace), JSON.stringify(graph), JSON.stringify(options))
}

describe.each(NAMES)('%s', (name) => {
  test.each([
    { theme: 'light', lang: 'zh' }, { theme: 'dark', lang: 'en', step: 5 },
    { embedded: true, width: 320, expanded: [] },
  ])('%o is a well-formed document of allowed elements', (options) => {
    const text = draw(name, options)
    const document = new DOMParser().parseFromString(text, 'image/svg+xml')
    const names = new Set([...document.querySelectorAll('*')].map((element) => element.tagName.toLowerCase()))
    for (const element of names)
      expect(['svg', 'title', 'desc', 'style', 'g', 'rect', 'path', 'text', 'image']).toContain(element)
    expect(text).not.toMatch(/NaN[ "]|undefined|Infinity/)
  })
})

test('every class that is drawn has its look', () => {
  for (const name of NAMES) {
    for (const step of [0, 8, 11, 12, 1000]) {
      const text = draw(name, { step })
      const styled = new Set([...text.matchAll(/\.gg-[\w-]+ \.([\w-]+)/g)].map((match) => match[1]))
      const used = new Set([...text.matchAll(/class="([\w-]+)"/g)].map((match) => match[1]!))
      for (const one of used) if (!one.startsWith('gg-')) expect(styled, one).toContain(one)
    }
  }
})

test("the user's text is escaped", () => {
  const { trace, graph } = load('scalar_expression')
  const boxes = graph.boxes.map((box) => ({ ...box, name: '<b>&"\u0000' }))
  const text = globalThis.gradgraphSvg(JSON.stringify(trace), JSON.stringify({ ...graph, boxes }), '{}')
  expect(text).toContain('&lt;b&gt;&amp;&quot;\ufffd')
  expect(text).not.toContain('<b>')
})

test('the same moment gives the same document', () => {
  expect(draw('attention', { step: 20 })).toBe(draw('attention', { step: 20 }))
  expect(draw('attention', { step: 20 })).not.toBe(draw('attention', { step: 21 }))
})
