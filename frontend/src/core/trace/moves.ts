// From where nodes took what they sent that only move, copy, pick or add up elements: said as what the forward op read
// for each element of its result.

import type { Node } from '../../api/types'
import { flat, positions, stretchedFrom } from '../ops/places'
import { numbersOf } from './saved-numbers'

type Shape = readonly number[]

/** The place in the operand that a place in the result was read from; null for none: padding, another operand. */
type Read = (at: Shape) => Shape | null

/** The axes a field names; undefined where it names none. */
export function axesOf(node: Node, field: string, rank: number): number[] | undefined {
  return numbersOf(node, field)?.map((axis) => (axis < 0 ? axis + rank : axis))
}

/** The elements of a gradient of shape `made` that went into an element of one of shape `own`, each as it was; null of
 *  a node that does something else. */
export function sourcesOf(node: Node, own: Shape, made: Shape, cell: number): number[] | null {
  const [is, count] = [positions(own, cell), made.reduce((product, size) => product * size, 1)]
  const all = Array.from({ length: count }, (_, from) => from)
  const axis = axesOf(node, 'dim', own.length)?.[0] ?? 0
  if (node.type === 'CumsumBackward0')
    return all.filter((from) => positions(made, from).every((at, n) => (n === axis ? at >= is[n]! : at === is[n])))
  const read = readOf(node, own, made)
  return read && all.filter((from) => read(positions(made, from))?.every((at, n) => at === is[n]))
}

function readOf(node: Node, own: Shape, made: Shape): Read | null {
  const numbers = (field: string): number[] => numbersOf(node, field) ?? []
  const axes = (field: string): number[] => axesOf(node, field, own.length) ?? []
  const inside = (at: Shape): Shape | null => (at.every((where, n) => where >= 0 && where < own[n]!) ? at : null)
  const swapped = (at: Shape, a: number, b: number): Shape => at.with(a, at[b]!).with(b, at[a]!)
  const turned = (at: Shape, flipped: readonly number[]): Shape =>
    at.map((where, n) => (flipped.includes(n) ? own[n]! - 1 - where : where))
  const [axis = 0] = axes('dim')
  switch (node.type.replace(/Backward\d+$/, '')) {
    case 'T':
      return (at) => at.toReversed()
    case 'Transpose':
      return (at) => swapped(at, axes('dim0')[0]!, axes('dim1')[0]!)
    case 'Permute': {
      const order = axes('dims')
      return order.length === own.length ? (at) => own.map((_, n) => at[order.indexOf(n)]!) : null
    }
    case 'Flip':
      return (at) => turned(at, axes('dims'))
    case 'Rot90': {
      const [[a = 0, b = 1], [k = 0]] = [axes('dims'), numbers('k')]
      const turns = [[], [b], [a, b], [a]][((k % 4) + 4) % 4]!
      return (at) => turned(k % 2 ? swapped(at, a, b) : at, turns)
    }
    case 'Roll': {
      const [by, along] = [numbers('shifts'), axes('dims')]
      const back = (where: number, shift: number, size: number): number => (((where - shift) % size) + size) % size
      if (along.length === 0) {
        const size = made.reduce((product, size) => product * size, 1)
        return (at) => positions(own, back(flat(made, at), by[0]!, size))
      }
      return (at) => along.reduce<Shape>((at, axis, n) => at.with(axis, back(at[axis]!, by[n]!, own[axis]!)), at)
    }
    case 'Select': {
      const [index = 0] = numbers('index')
      return (at) => at.toSpliced(axis, 0, index < 0 ? index + own[axis]! : index)
    }
    case 'Slice': {
      const [[start = 0], [step = 1]] = [numbers('start'), numbers('step')]
      return (at) => at.with(axis, (start < 0 ? start + own[axis]! : start) + step * at[axis]!)
    }
    case 'Diagonal': {
      const [[a = 0], [b = 1], [offset = 0]] = [axes('dim1'), axes('dim2'), numbers('offset')]
      return (at) => {
        const [rest, k] = [at.slice(0, -1), at.at(-1)!]
        const both = [[a, k + Math.max(0, -offset)], [b, k + Math.max(0, offset)]].sort(([a], [b]) => a! - b!)
        return both.reduce((at, [axis, where]) => at.toSpliced(axis!, 0, where!), rest)
      }
    }
    case 'Tril':
    case 'Triu': {
      const [[offset = 0], sign] = [numbers('diagonal'), node.type.startsWith('Tril') ? 1 : -1]
      return (at) => (sign * (at.at(-1)! - at.at(-2)! - offset) <= 0 ? at : null)
    }
    case 'Repeat':
      return (at) => at.slice(at.length - own.length).map((where, n) => where % own[n]!)
    case 'Expand':
      return (at) => positions(own, stretchedFrom(own, made, flat(made, at)))
    case 'Unfold': {
      const [[along = 0], [step = 1]] = [axes('dimension'), numbers('step')]
      return (at) => at.slice(0, -1).with(along, at[along]! * step + at.at(-1)!)
    }
    case 'ConstantPadNd': {
      const pad = numbers('pad')
      return (at) => inside(at.map((where, n) => where - (pad[2 * (own.length - 1 - n)] ?? 0)))
    }
  }
  return null
}

interface Piece {
  output: number
  /** The element of that result, which has a shape. */
  place: (shape: Shape) => number
}

/** Which of the results of a node an element went into; null for a node with one result. */
export function pieceOf(node: Node, own: Shape, cell: number): Piece | null {
  const kind = /^(Split|SplitWithSizes|Unbind)Backward\d$/.exec(node.type)?.[1]
  const axis = axesOf(node, 'dim', own.length)?.[0]
  if (!kind || axis === undefined) return null
  const at = positions(own, cell)
  if (kind === 'Unbind') return { output: at[axis]!, place: (shape) => flat(shape, at.toSpliced(axis, 1)) }
  const [each = 1] = numbersOf(node, 'split_size') ?? []
  const sizes = numbersOf(node, 'split_sizes') ?? Array.from({ length: Math.ceil(own[axis]! / each) }, () => each)
  let [output, before] = [0, 0]
  while (before + sizes[output]! <= at[axis]!) before += sizes[output++]!
  return { output, place: (shape) => flat(shape, at.with(axis, at[axis]! - before)) }
}
