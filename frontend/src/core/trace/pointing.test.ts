import { expect, test } from 'vitest'
import { load } from '../fixtures/load'
import { boxFinder } from './naming'
import { pointed } from './pointing'
import { linesOfGraph, TraceIndex } from './trace-index'

const { trace, graph } = load('double_backward')
const cubes = graph.boxes.filter(({ span }) => span?.line === 4)

function speaksOf(at: string, boxes = graph.boxes): { boxes: number; lines: readonly number[] } | null {
  const shown = { ...graph, boxes }
  const index = new TraceIndex(trace)
  const found = pointed(at, index, boxFinder(shown, index), linesOfGraph(shown))
  return found && { boxes: found.boxes.size, lines: found.lines, ...(found.step && { step: found.step }) }
}

test('a phrase speaks of a tensor by its name, of nodes by their type, of code by its text', () => {
  expect(speaksOf('y')).toEqual({ boxes: 1, lines: [4] })
  expect(speaksOf('x.grad')?.boxes).toBe(1)
  expect(speaksOf('PowBackward0', cubes)).toEqual({ boxes: 1, lines: [4] })
  expect(speaksOf('curvature.backward()')?.lines).toEqual([8])
  expect(speaksOf('SqrtBackward0')).toBeNull()
})

test('what another pass has the picture of lights the lines that name it, or those that made it', () => {
  const moved = { line: 6, end_line: 6 }
  const leaf = graph.boxes.flatMap((box) => (box.span?.line === 3 ? [{ ...box, span: { ...box.span, ...moved } }] : []))
  expect(leaf.length).toBe(1)
  expect(speaksOf('y', leaf)).toEqual({ boxes: 1, lines: [4, 6, 10], step: 2 })
  expect(speaksOf('PowBackward0', [])?.lines).toContain(4)
  expect(speaksOf('x.grad', [])?.lines).toContain(13)
})

test('code speaks of what is written so, or of the function that it names, and of no text that is printed', () => {
  expect(speaksOf('x ** 3')).toEqual({ boxes: 1, lines: [4] })
  expect(speaksOf('autograd.grad(y, x, create_graph=True)', [])).toMatchObject({ lines: [6], step: 7 })
  expect(speaksOf('curvature', [])).toMatchObject({ step: 14 })
})
