import { expect, test } from 'vitest'
import { load, type Name } from '../fixtures/load'
import { TraceIndex } from '../trace/trace-index'
import { wordsOf } from '../words/sentences'
import { search } from './search'

const said = wordsOf({})

function hits(fixture: Name, query: string): string[] {
  const { trace, graph } = load(fixture)
  return search(graph, new TraceIndex(trace), query, said).map(({ name }) => name)
}

test('a shape finds what has it, and nothing else', () => {
  const { trace, graph } = load('broadcasting')
  const index = new TraceIndex(trace)
  const found = search(graph, index, '2x3', said).map(({ selection }) => selection)
  const boxes = graph.boxes.filter((box) => index.tensor(box.tensor)?.shape.join() === '2,3')
  expect(boxes.length).toBeGreaterThan(0)
  expect(found).toEqual(boxes.map(({ id }) => ({ kind: 'box', id })))
})

test('norms and gradients are compared with a number', () => {
  expect(hits('accumulation', 'grad > 0').length).toBeGreaterThan(0)
  expect(hits('accumulation', 'grad = 0')).toEqual([])
  expect(hits('accumulation', 'norm > 1e30')).toEqual([])
})

test('conditions and words hold together', () => {
  const all = hits('attention', 'norm >= 0')
  const some = hits('attention', 'softmax norm >= 0')
  expect(some.length).toBeGreaterThan(0)
  expect(some.length).toBeLessThan(all.length)
})

test('a line is found by its number, and a dtype by its name', () => {
  expect(hits('accumulation', 'line 2')).toContain('2')
  expect(hits('accumulation', 'float32').length).toBeGreaterThan(0)
  expect(hits('accumulation', 'nan')).toEqual([])
})
