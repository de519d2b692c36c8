import { expect, test } from 'vitest'
import { load } from '../core/fixtures/load'
import { layout } from '../core/layout/layout'
import { PAGE } from '../core/paint/annotations'
import { layoutInput } from '../core/paint/sizes'
import { View } from '../core/paint/view'
import { isAlike, largest } from './steady'

const inputOf = (name: Parameters<typeof load>[0]) => {
  const { trace, graph } = load(name)
  return layoutInput(new View(trace, graph, (key) => key, PAGE).measure, null)
}
const input = inputOf('broadcasting')

test('what fits stays as it is', () => {
  const smaller = { ...input, boxes: input.boxes.map((box) => ({ ...box, w: box.w - 4 })) }
  expect(largest(input, input)).toBe(input)
  expect(largest(input, smaller)).toBe(input)
})

test('what does not fit grows, by more than it must', () => {
  const [first, ...others] = input.boxes
  const wider = { ...input, boxes: [{ ...first!, w: first!.w + 4 }, ...others] }
  const grown = largest(input, wider)!
  expect(grown.boxes[0]!.w).toBeGreaterThan(first!.w + 40)
  expect(grown.links).toBe(input.links)
  expect(largest(grown, wider)).toBe(grown)
  expect(isAlike(layout(input), layout(grown))).toBe(true)
})

test('another structure has its own places', () => {
  expect(largest(input, inputOf('accumulation'))).toBeNull()
  expect(largest(input, { ...input, boxes: input.boxes.slice(1) })).toBeNull()
  expect(isAlike(layout(input), layout(inputOf('accumulation')))).toBe(false)
  expect(isAlike(null, layout(input))).toBe(false)
})
