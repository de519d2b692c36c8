import { describe, expect, test } from 'vitest'
import type { Tensor, Trace } from '../../api/types'
import { load, NAMES } from '../fixtures/load'
import { layout } from '../layout/layout'
import { words } from '../words/bundled'
import { textWidth } from '../words/format'
import { PAGE } from './annotations'
import { EMBED } from './measure'
import { layoutInput } from './sizes'
import { drawAll, View } from './view'

const STEPS = 60

describe.each(NAMES)('%s', (name) => {
  const { trace, graph } = load(name)
  const view = new View(trace, graph, words('en'), PAGE)
  const placed = layout(layoutInput(view.measure, null))
  const painter = view.painter('light')
  const total = Math.min(STEPS, trace.timeline.length)

  test('what a step leaves as it was is the item that is there, and each looks as one drawn anew', () => {
    let before = drawAll(view, placed, view.at(0), painter)
    let drawn = 0
    for (let step = 1; step <= total; step += 1) {
      const moment = view.at(step)
      const now = drawAll(view, placed, moment, painter)
      expect(now).toEqual(drawAll(view, placed, moment, view.painter('light')))
      drawn += now.filter((item, at) => item !== before[at]).length
      before = now
    }
    // an op fills its box and lights its wires, one pair of each with the step before
    expect(drawn / total).toBeLessThan(8)
  })

  test('the number of a step is within the room left beside its box', () => {
    const { margins } = view.measure
    for (const { w, marks } of margins ? drawAll(view, placed, view.at(0), painter) : [])
      for (const mark of marks)
        if (mark.k === 'text' && mark.step && mark.c !== 'step-b')
          expect(mark.x < 0 ? textWidth(mark.s, 11) - mark.x : mark.x + textWidth(mark.s, 11) - w!)
            .toBeLessThanOrEqual(margins)
  })

  test('what stands in `.grad` stands clear of its caption', () => {
    for (const { marks } of drawAll(view, placed, view.at(trace.timeline.length), painter)) {
      const at = marks.findIndex((mark) => mark.k === 'text' && mark.c === 'tag')
      const [tag, next] = [marks[at], marks[at + 1]]
      if (tag?.k !== 'text' || !next) continue
      const from = next.k === 'rect' ? next.x
        : next.k === 'path' ? Number(next.d.split(' ')[0]!.slice(1)) - 4
          : next.k === 'text' ? next.x - textWidth(next.s, 12.5) / 2 : Infinity
      expect(from - tag.x - textWidth(tag.s, 11)).toBeGreaterThanOrEqual(6)
    }
  })

  test('a step back is drawn as it was', () => {
    const there = view.at(total)
    drawAll(view, placed, there, painter)
    const back = view.at(Math.floor(total / 2))
    expect(drawAll(view, placed, back, painter)).toEqual(drawAll(view, placed, back, view.painter('light')))
  })
})

test('the step of a box stands above its stubs, however many they are, and their arrows end at the box', () => {
  const { trace, graph } = load('scalar_expression')
  for (const constants of [['1'], ['1', '2', '3'], ['1', '2', '3', '4', '5']]) {
    const boxes = graph.boxes.map((box) => (box.kind === 'op' ? { ...box, constants } : box))
    const view = new View(trace, { ...graph, boxes }, words('en'), PAGE)
    const items = drawAll(view, layout(layoutInput(view.measure, null)), view.at(1), view.painter('light'))
    for (const { h, marks } of items)
      for (const mark of marks) if (mark.k === 'rect' && mark.c === 'stub') expect(mark.y + 10).toBeLessThan(h)
    const met = items.filter(({ marks }) => {
      const stubs = marks.filter((mark) => mark.k === 'rect' && mark.c === 'stub')
      return stubs.length > 0 && marks.some((mark) =>
        mark.k === 'text' && mark.c === 'step-f' && stubs.some((stub) => 'y' in stub && mark.y > stub.y))
    })
    expect(met).toEqual([])
  }
})

test('a sum over broadcast axes is quiet and without numbers before its step', () => {
  const { trace, graph } = load('broadcasting')
  const view = new View(trace, graph, words('en'), PAGE)
  const placed = layout(layoutInput(view.measure, null))
  const capsules = (step: number) =>
    drawAll(view, placed, view.at(step), view.painter('light')).flatMap(({ marks }) =>
      marks.flatMap((mark) => (mark.k === 'text' && mark.c.startsWith('capsule') ? `${mark.c} ${mark.s}` : [])))
  const steps = trace.timeline.flatMap(({ kind }, at) => (kind === 'reduce' ? [at + 1] : []))
  expect(capsules(0)).toEqual(['capsule-waiting-text Σ₀', 'capsule-waiting-text Σ₁'])
  expect(steps.flatMap((step) => [capsules(step - 1), capsules(step)]).map((all) => all.filter((said) =>
    said.startsWith('capsule-text')).length)).toEqual([0, 1, 1, 2])
})

test('no lane strikes through the capsule of another wire', () => {
  const { trace, graph } = load('broadcasting')
  const view = new View(trace, graph, words('en'), PAGE)
  const items = drawAll(view, layout(layoutInput(view.measure, null)), view.at(0), view.painter('light'))
  const looks = (mark: { k: string; c?: string }): string => (mark.k !== 'image' && mark.c) || ''
  const has = (look: string): number[] =>
    items.flatMap(({ marks }, at) => (marks.some((mark) => looks(mark).startsWith(look)) ? [at] : []))
  expect(Math.min(...has('capsule'))).toBeGreaterThan(Math.max(...has('edge-hit')))
})

test('a box that failed is as wide as what it says of that', () => {
  const { trace, graph } = load('error_in_place')
  const failure = { ...trace.failure!, message: 'one of the variables needed here was modified' }
  const said = (changed: Partial<Trace>): string[] => {
    const view = new View({ ...trace, ...changed }, graph, words('en'), PAGE)
    const end = view.at(trace.timeline.length)
    const items = drawAll(view, layout(layoutInput(view.measure, null)), end, view.painter('light'))
    return items.flatMap(({ marks }) => marks.flatMap((mark) =>
      mark.k === 'text' && mark.c === 'strip-fail' ? mark.s : []))
  }
  expect(said({ failure, findings: [] })).toEqual([failure.message])
  const passes = trace.passes.map((pass) => ({ ...pass, caught: { type: 'ValueError', message: 'no more' } }))
  expect(said({ passes })).toEqual(['no more'])
  expect(said({ passes, failure: null })).toEqual(['no more'])
})

test.each([['page', PAGE], ['embed', EMBED]])('a value nobody recorded is told in words, in the %s', (_, room) => {
  const { trace, graph } = load('double_backward')
  const boxes = graph.boxes.map((box) => (box.kind === 'op' ? { ...box, tensor: null } : box))
  const view = new View(trace, { ...graph, boxes }, words('en'), room)
  const end = view.at(trace.timeline.length)
  const items = drawAll(view, layout(layoutInput(view.measure, null)), end, view.painter('light'))
  for (const { id, marks, w } of items) {
    if (graph.boxes.find((box) => box.id === id)?.kind !== 'op') continue
    const said = marks.find((mark) => mark.k === 'text' && mark.s === 'not recorded')
    expect(said?.k === 'text' && said.x + textWidth(said.s, 11) / 2).toBeLessThanOrEqual(w! / 2)
  }
})

/** What a trunk of attention's graph says of its gradients; `changed` makes others of their numbers. */
function trunkSays(changed = (trace: Trace): Trace => trace): string[] {
  const { trace, graph } = load('attention')
  const told = changed(trace)
  const view = new View(told, graph, words('en'), PAGE)
  const trunk = layout(layoutInput(view.measure, null)).wires.find(({ links }) => links.length > 1)!
  const links = trunk.links.map((id) => view.link(id)!)
  const { marks } = view.painter('light').wire(trunk, links, view.at(told.timeline.length))
  return marks.flatMap((mark) => (mark.k === 'text' && mark.c === 'label-g' ? mark.s : []))
}

test('what a trunk carries of gradients that differ is a norm in its bars', () => {
  expect(trunkSays()).toEqual(['‖1.26‖'])
})

test('infinities that a trunk carries add up to an infinity', () => {
  const infinite = ({ data }: Tensor) => data && data.map((value, at) => (at === 0 ? 'inf' : value))
  const ofAll = (trace: Trace): Trace => ({
    ...trace, tensors: trace.tensors.map((tensor) => ({ ...tensor, data: infinite(tensor) })),
  })
  expect(trunkSays(ofAll)).toEqual(['‖Inf‖'])
})
