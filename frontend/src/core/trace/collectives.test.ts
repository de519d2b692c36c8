import { expect, test } from 'vitest'
import { load } from '../fixtures/load'
import { PAGE } from '../paint/annotations'
import { headOf } from '../paint/measure'
import { View } from '../paint/view'
import { words } from '../words/bundled'
import { exchangedIn, exchangesOf, isGradient, listed, metBy } from './collectives'
import { cutGraph, cutTrace } from './cut'
import { tell } from './story'
import { TraceIndex } from './trace-index'

const { trace, graph } = load('distributed_data_parallel')
const index = new TraceIndex(trace)
const t = words('en')
const box = graph.boxes.find(({ title }) => title === 'all_reduce')!
const steps = (box.ops ?? []).map((op) => index.stepOfOp.get(op)!)

test('each rank gave its own and all got the same', () => {
  const [first, second] = exchangedIn(index, index.op(box.op)!)
  expect(first!.gave[0]!.data).not.toEqual(second!.gave[0]!.data)
  expect(first!.got[0]!.data).toEqual(second!.got[0]!.data)
})

test('a rank gave nothing where it was only written into', () => {
  const broadcast = trace.ops.find(({ name }) => name === 'broadcast')!
  expect(exchangedIn(index, broadcast).map(({ gave, got }) => [gave.length, got.length])).toEqual([[2, 2], [0, 2]])
})

test('the start of a parallel model says whose tensors all ranks got, and how many', () => {
  const start = graph.boxes.find(({ name }) => name === 'start')!
  const { measure } = new View(index, graph, t, PAGE)
  expect(headOf(start, measure).aside).toBe('DDP start: 2 tensors from rank 0')
})

test('a meeting is told once, at the step of the first rank', () => {
  const [first, second] = steps.map((step) => tell(index, step, t))
  expect(first!.text).toBe('All ranks have met in all_reduce:')
  expect(first!.value).toMatch(/^rank 0: .+ → .+; rank 1: .+ → .+$/)
  expect(second!.text).toBe('rank 1 · goes on after all_reduce')
})

test('a box shows the ranks that have met by its step, and is now at the step of each', () => {
  const view = new View(index, graph, t, PAGE)
  const at = (step: number) => view.at(step).box(box.id).exchanged.map(({ op }) => op.rank)
  expect(at(steps[0]! - 1)).toEqual([])
  expect(at(steps[0]!)).toEqual([0])
  expect(at(steps[1]!)).toEqual([0, 1])
  for (const step of steps) expect(view.at(step).currentBox).toBe(box.id)
})

test('gradients go up its links, and nothing does before', () => {
  const view = new View(index, graph, t, PAGE)
  const links = view.measure.sheet.links.filter(({ kind, source }) => kind === 'exchange' && source === box.id)
  expect(links).toHaveLength(2)
  for (const link of links) {
    expect(isGradient(link, view.measure.sheet.boxes.get(link.target))).toBe(true)
    expect(view.at(steps[0]! - 1).link(link).value).toBeNull()
    expect(view.at(steps[1]!).link(link).value?.id).toBe(link.back)
  }
})

test('a run that is cut before it knows nothing of what was exchanged', () => {
  const before = cutTrace(trace, steps[0]! - 1)
  expect(cutGraph(graph, before).boxes.some(({ id }) => id === box.id)).toBe(false)
  const between = new TraceIndex(cutTrace(trace, steps[0]!))
  expect(exchangesOf(between, box).map(({ op }) => op.rank)).toEqual([0])
})

test('a rank is told of once it has come that far', () => {
  const met = exchangedIn(index, index.op(box.ops![0]!)!)
  expect([steps[0]! - 1, steps[0]!, steps[1]!].map((step) => metBy(index, met, step).length)).toEqual([0, 1, 2])
})

test('of many tensors the first are told, and how many there are', () => {
  const tensors = trace.tensors.slice(0, 5)
  const say = ({ id }: { id: string }): string => id
  expect(listed(tensors, say)).toBe('t1, t2, t3, … (5)')
  expect(listed(tensors.slice(0, 3), say)).toBe('t1, t2, t3')
  expect(listed([], say)).toBe('·')
})
