import { describe, expect, test } from 'vitest'
import { load, NAMES } from '../fixtures/load'
import { layout } from '../layout/layout'
import { words } from '../words/bundled'
import { PAGE } from './annotations'
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

  test('a step back is drawn as it was', () => {
    const there = view.at(total)
    drawAll(view, placed, there, painter)
    const back = view.at(Math.floor(total / 2))
    expect(drawAll(view, placed, back, painter)).toEqual(drawAll(view, placed, back, view.painter('light')))
  })
})
