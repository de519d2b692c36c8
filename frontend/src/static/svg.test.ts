// @vitest-environment happy-dom
import { describe, expect, test } from 'vitest'
import { load, NAMES } from '../core/fixtures/load'
import { sheetOf } from '../core/layout/fold'
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

test('it is called by what went through the graph, in the language of the picture', () => {
  const title = (lang: string) => /<title>([^<]*)</.exec(draw('accumulation', { lang }))![1]
  expect([title('en'), title('zh')]).toEqual(['Computation graph: third.backward()', '计算图：third.backward()'])
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

describe('a selection has its ring', () => {
  const rings = (name: (typeof NAMES)[number], kind: 'box' | 'edge' | 'group', id: string, more: object = {}) => {
    const drawn = new DOMParser().parseFromString(draw(name, { selection: { kind, id }, ...more }), 'image/svg+xml')
    return [...drawn.querySelectorAll('.ring, .edge-ring')].map((element) => element.getAttribute('class'))
  }
  const { graph } = load('attention')

  test('around a box, a wire, a group', () => {
    expect(rings('scalar_expression', 'box', load('scalar_expression').graph.boxes[0]!.id)).toEqual(['ring'])
    const { links } = sheetOf(load('scalar_expression').graph)
    const wires = links.flatMap(({ id }) => rings('scalar_expression', 'edge', id))
    expect(new Set(wires)).toEqual(new Set(['edge-ring']))
    expect(rings('attention', 'group', graph.groups[0]!.id)).toEqual(['ring'])
  })

  test('around the folded group that a box is in', () => {
    const inside = graph.boxes.find((box) => box.group)!
    expect(rings('attention', 'box', inside.id, { expanded: [] })).toEqual(['ring'])
  })

  test('but not around what is not there', () => {
    expect(rings('attention', 'box', 'n99999')).toEqual([])
    expect(draw('attention', { selection: { kind: 'line', line: 1 } })).toBe(draw('attention'))
  })
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

test('a picture of a given size shows the whole graph in its middle', () => {
  const boxOf = (options: object) => {
    const text = draw('attention', options)
    const [, x, y, w, h] = /viewBox="(\S+) (\S+) (\S+) (\S+)"/.exec(text)!.map(Number)
    return { x: x!, y: y!, w: w!, h: h!, text }
  }
  const whole = boxOf({})
  for (const [width, height] of [[1200, 630], [100, 900]]) {
    const { x, y, w, h, text } = boxOf({ width, height })
    expect(text).toContain(`width="${width}" height="${height}"`)
    expect(w / h).toBeCloseTo(width! / height!, 3)
    expect(x + w / 2).toBeCloseTo(whole.x + whole.w / 2, 1)
    expect(y + h / 2).toBeCloseTo(whole.y + whole.h / 2, 1)
    expect(Math.min(w - whole.w, h - whole.h)).toBeCloseTo(0, 1)
  }
})
