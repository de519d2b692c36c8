// @vitest-environment happy-dom
import { beforeEach, expect, test } from 'vitest'
import { keepRun, recentRuns, tellingLine, type Recent } from './browser-storage'

const run = (id: string): Recent => ({ id, at: 0, lesson: null, line: '', status: 'ok' })

beforeEach(() => sessionStorage.clear())

test('runs of a tab are kept newest first, each once, twelve at most', () => {
  let known: readonly Recent[] = []
  for (const id of ['a', 'b', 'a', ...'cdefghijklmnop']) known = keepRun(known, run(id))
  expect(known.map((one) => one.id)).toEqual([...'ponmlkjihgfe'])
  expect(recentRuns()).toEqual(known)
})

test('storage that holds something else is no run', () => {
  sessionStorage.setItem('gradgraph.runs', '{broken')
  expect(recentRuns()).toEqual([])
})

const told = (code: string, before: string): string => tellingLine({ code }, { code: before })

test('a run of the same program is told by another seed', () => {
  expect(tellingLine({ code: 'x = 1', seed: 3 }, { code: 'x = 1' })).toBe('seed 3')
  expect(tellingLine({ code: 'x = 1', seed: 0 }, { code: 'x = 1' })).toBe('x = 1')
  expect(tellingLine({ code: 'x = 2', seed: 3 }, { code: 'x = 1' })).toBe('x = 2')
})

test('a run is told by the first line that was not in the program before', () => {
  expect(told('import torch\nx = 1\ny = x * 3', 'import torch\nx = 1\ny = x * 2')).toBe('y = x * 3')
  expect(told('# words\nimport torch\nfrom torch import nn\n\n  x = 1', '')).toBe('x = 1')
  expect(told('x = 1', 'x = 1')).toBe('x = 1')
  expect(told('', 'x')).toBe('')
})
