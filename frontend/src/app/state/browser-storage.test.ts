// @vitest-environment happy-dom
import { beforeEach, expect, test } from 'vitest'
import { draftOf, keepDraft, keepRun, recentRuns, tellingLine, type Recent } from './browser-storage'

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

test('each run keeps what was made of it until that is run', () => {
  keepDraft('one', 'x = 1 # mine', 'x = 1')
  keepDraft('two', 'y = 2 # mine', 'y = 2')
  keepDraft('three', 'z = 3', 'z = 3')
  expect(['one', 'two', 'three', null].map(draftOf)).toEqual(['x = 1 # mine', 'y = 2 # mine', null, null])
  keepDraft('four', 'x = 1 # mine', 'x = 1 # mine')
  expect(['one', 'two'].map(draftOf)).toEqual([null, 'y = 2 # mine'])
  keepDraft('two', 'y = 2', 'y = 2')
  expect([draftOf('two'), sessionStorage.length]).toEqual([null, 0])
})
