import { expect, test } from 'vitest'
import { load } from '../fixtures/load'
import { bands } from './timeline-names'
import { TraceIndex } from './trace-index'

/** Brackets of a run whose ops belonged to these modules, one step each. */
function bracketsOf(paths: readonly string[]) {
  const { trace } = load('attention')
  const [op, module] = [trace.ops[0]!, trace.modules[0]!]
  const held = [...new Set(paths)].map((path) => ({ ...module, id: path, path, parent: 'net' }))
  return bands(new TraceIndex({
    ...trace,
    modules: [{ ...module, id: 'net', path: 'net', parent: null }, ...held],
    ops: paths.map((path, at) => ({ ...op, id: `o${at}`, module: path })),
    timeline: paths.map((_, at) => ({ kind: 'op' as const, op: `o${at}` })),
  }), 0, 1000)
}

test('a part that runs again after another has no bracket over the other', () => {
  const conv = Array<string>(90).fill('net.conv')
  expect(bracketsOf(['net.pool', ...conv, 'net.pool']).map(({ text }) => text)).toEqual(['conv'])
})

test('neighbours of one list share a bracket', () => {
  const blocks = Array.from({ length: 40 }, (_, at) => `net.blocks.${at}`)
  expect(bracketsOf(blocks).map(({ text }) => text)).toEqual(['blocks ×40'])
})
