// What a phrase of a lesson speaks of: boxes of the picture and lines of the program.

import type { BoxFinder } from './naming'
import { linesOfSpan, type Lines, type TraceIndex } from './trace-index'

export interface Pointed {
  boxes: ReadonlySet<string>
  lines: readonly number[]
}

/** By the name of a tensor (of `x.grad` the tensor), by the type of a node, or else by code of the program; of what
 *  another pass or root has a picture of, the lines that name it, or else those that made it. Null where the run has
 *  nothing of it. */
export function pointed(at: string, index: TraceIndex, find: BoxFinder, lines: Lines): Pointed | null {
  const { tensors, nodes } = index.trace
  const name = at.replace(/\.grad$/, '')
  const named = tensors.filter(({ names }) => names?.includes(name))
  const typed = nodes.filter(({ type }) => type === at)
  const drawn = [...named.map(({ id }) => find.ofTensor(id)), ...typed.map(({ id }) => find.ofNode(id))]
  const boxes = drawn.flatMap((box) => box ?? [])
  if (boxes.length > 0)
    return { boxes: new Set(boxes.map(({ id }) => id)), lines: boxes.flatMap(({ span }) => linesOfSpan(span)) }
  const found = linesWith(at, index.trace.program.code)
  if (found.length > 0) return { boxes: new Set(found.flatMap((line) => lines.boxesOf.get(line) ?? [])), lines: found }
  const makers = [...named.map(({ id }) => index.producer(id)), ...typed.map(({ op }) => index.op(op))]
  const made = makers.flatMap((op) => linesOfSpan(op?.span))
  return made.length > 0 ? { boxes: new Set(), lines: made } : null
}

/** The same in what is on show, once it is. */
export function pointedIn(
  { index, find, lines }: { index: TraceIndex | null; find: BoxFinder | null; lines: Lines | null }, at: string,
): Pointed | null {
  return index && find && lines ? pointed(at, index, find, lines) : null
}

function linesWith(text: string, code: string): number[] {
  const whole = new RegExp(`(?<![\\w.])${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?!\\w)`)
  return code.split('\n').flatMap((line, at) => (whole.test(line.replace(/#.*/, '')) ? at + 1 : []))
}
