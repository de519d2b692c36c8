import { expect, test } from 'vitest'
import { load, NAMES } from '../fixtures/load'
import { words } from '../words/bundled'
import { passName } from './naming'
import { chapters, sentenceOf } from './text-walk'
import { TraceIndex } from './trace-index'

test.each(NAMES)('the chapters of %s hold each step once', (name) => {
  const index = new TraceIndex(load(name).trace)
  const found = chapters(index, words('en'))
  const steps = found.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, at) => first + at))
  expect(steps).toEqual(index.trace.timeline.map((_, at) => at + 1))
  const titles = found.map(({ title }) => title)
  for (const pass of index.trace.passes) expect(titles).toContain(passName(pass, words('en')))
})

test('a sentence carries its numbers', () => {
  const index = new TraceIndex(load('scalar_expression').trace)
  const at = index.trace.timeline.findIndex(({ kind }) => kind === 'visit') + 1
  expect(sentenceOf(index, at, words('zh'))).toBe('访问 y，收到：1；送出 1 → x ** 2 + 3 * x')
})
