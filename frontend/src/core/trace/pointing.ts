// What a phrase of a lesson speaks of: boxes of the picture and lines of the program.

import type { Op } from '../../api/types'
import { codeAt, type BoxFinder } from './naming'
import { linesOfSpan, type Lines, type TraceIndex } from './trace-index'

export interface Pointed {
  boxes: ReadonlySet<string>
  lines: readonly number[]
  /** Of what the picture has no box for: where it was computed. Boxes are then those of the lines. */
  step?: number
}

/** By the name of a tensor (of `x.grad` the tensor), by the type of a node, or else by code of the program: what it
 *  computes, or its lines. Null where the run has nothing of it. */
export function pointed(at: string, index: TraceIndex, find: BoxFinder, lines: Lines): Pointed | null {
  const { tensors, nodes } = index.trace
  const name = at.replace(/\.grad$/, '')
  const named = tensors.filter(({ names }) => names?.includes(name))
  const typed = nodes.filter(({ type }) => type === at)
  const drawn = [...named.map(({ id }) => find.ofTensor(id)), ...typed.map(({ id }) => find.ofNode(id))]
  const found = linesWith(at, index.trace.program.code)
  const makers = [...named.map(({ id }) => index.producer(id)), ...typed.map(({ op }) => index.op(op))]
  const ops = makers.length > 0 ? makers : computedBy(at, found, index)
  const boxes = (drawn.some(Boolean) ? drawn : ops.map((op) => find.ofOp(op?.id))).flatMap((box) => box ?? [])
  if (boxes.length > 0)
    return { boxes: new Set(boxes.map(({ id }) => id)), lines: boxes.flatMap(({ span }) => linesOfSpan(span)) }
  const step = name === at ? ops.map((op) => index.stepOfOp.get(op?.id ?? '')).find(Boolean) : undefined
  const made = found.length > 0 ? found : ops.flatMap((op) => linesOfSpan(op?.span))
  if (made.length === 0) return null
  return { boxes: new Set(made.flatMap((line) => lines.boxesOf.get(line) ?? [])), lines: made, step }
}

/** The ops of some lines that are written so, or else those of the function that is named. */
function computedBy(at: string, lines: readonly number[], { trace }: TraceIndex): Op[] {
  const there = trace.ops.filter(({ span }) => span && lines.includes(span.line))
  const written = there.filter(({ span }) => `.${codeAt(trace.program.code, span)}`.endsWith(`.${at}`))
  const word = /\w+$/.exec(at.replace(/\(.*/, ''))?.[0]
  return written.length > 0 ? written : there.filter(({ name }) => name === word)
}

/** The same in what is on show, once it is. */
export function pointedIn(
  { index, find, lines }: { index: TraceIndex | null; find: BoxFinder | null; lines: Lines | null }, at: string,
): Pointed | null {
  return index && find && lines ? pointed(at, index, find, lines) : null
}

/** The lines whose code, not a text in it, has this: by itself, or else behind a dot. */
function linesWith(text: string, code: string): number[] {
  const quoted = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const lines = code.split('\n').map((line) => line.replace(/(?<!\bf)(["'])(?:(?!\1).)*\1/g, '""').replace(/#.*/, ''))
  const having = (before: string): number[] => {
    const whole = new RegExp(`(?<!${before})${quoted}(?!\\w)`)
    return lines.flatMap((line, at) => (whole.test(line) ? at + 1 : []))
  }
  const alone = having('[\\w.]')
  return alone.length > 0 ? alone : having('\\w')
}
