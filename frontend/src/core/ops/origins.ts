// Which cells of its operands an op made a cell of its result from: recorded of an op that picks, worked out from the
// shapes of one that stretches its operands, from the geometry of one that slides a window.

import type { Op, Tensor, Visit, Window } from '../../api/types'
import { argumentOf } from './arguments'
import { count, flat, positions, stretchedFrom } from './places'
import type { Way } from './terms'

/** One cell of an input for each cell of a result. */
export interface Source {
  /** Index into the inputs, and into the outputs. */
  readonly input: number
  readonly output: number
  /** The cell says where, and does not hold the value. */
  readonly position: boolean
  /** How many cells the result has. */
  readonly size: number
  /** The cell of the input; −1 for none: padding, or a cell that came from another input. */
  of(made: number): number
}

/** The factors of one term. */
export type Term = readonly Source[]

export interface Origins {
  readonly kind: 'picked' | 'stretched' | 'window' | 'unfolded' | 'summed'
  readonly terms: readonly Term[]
  /** What becomes of the terms, where it can be written with their numbers. */
  readonly way: Way | null
  /** Of a mean: by what the sum for a cell is divided. */
  over?(made: number): number
  /** The same where it was given, and may be another number than that of the cells. */
  readonly divisor?: number | null
  /** Inputs that broadcasting stretched: the axes of the result along which their cells are repeated. */
  readonly stretched: ReadonlyMap<number, readonly number[]>
}

type Find = (id: string | undefined) => Tensor | undefined

/** Terms and cells that are worked out at most: it is done anew with every move of the pointer. */
const MOST_WORK = 200_000

/** Where the cells of what an op made came from; null where that is neither recorded nor known. */
export function originsOf(op: Op, tensor: Find): Origins | null {
  const result = tensor(op.outputs[0])
  if (op.raised || !result) return null
  const found = op.reads?.length ? recorded(op) : op.window ? slid(op, op.window, tensor, result)
    : op.name === 'unfold' ? unfolded(op, tensor, result) : op.broadcast?.length ? stretched(op, tensor, result) : null
  return found && found.terms.length * count(result.shape) <= MOST_WORK ? found : null
}

/** Where the cells of a gradient came from that was summed over the axes its operand had been stretched along; null
 *  where these have one element each, so that nothing is added. */
export function summedOrigins(visit: Visit, slot: number, left: Tensor): Origins | null {
  const reduction = visit.reduced?.find((reduced) => reduced.slot === slot)
  if (!reduction) return null
  const { shape: whole, axes } = reduction
  const repeated = axes.map((axis) => whole[axis]!)
  const own = alignedTo(left.shape, whole.length)
  const size = count(left.shape)
  const terms = Array.from({ length: count(repeated) }, (_, copy): Term => {
    const at = positions(repeated, copy)
    const of = (made: number): number => {
      const places = positions(own, made)
      return flat(whole, whole.map((_, axis) => (axes.includes(axis) ? at[axes.indexOf(axis)]! : places[axis]!)))
    }
    return [source({ input: 0, size, of })]
  })
  const isShown = terms.length > 1 && terms.length * size <= MOST_WORK
  return isShown ? { kind: 'summed', terms, way: 'sum', stretched: new Map() } : null
}

function source(given: Pick<Source, 'input' | 'size' | 'of'> & Partial<Source>): Source {
  return { output: 0, position: false, ...given }
}

/** A shape with ones in front of it. */
function alignedTo(shape: readonly number[], axes: number): readonly number[] {
  return [...new Array<number>(Math.max(0, axes - shape.length)).fill(1), ...shape]
}

function stretchedInputs(op: Op): ReadonlyMap<number, readonly number[]> {
  return new Map((op.broadcast ?? []).map(({ input, axes }) => [input, axes]))
}

function recorded(op: Op): Origins {
  const terms = (op.reads ?? []).map(({ input, output = 0, position = false, cells }): Term => [
    { input, output, position, size: cells.length, of: (made) => cells[made] ?? -1 },
  ])
  return { kind: 'picked', terms, way: null, stretched: new Map() }
}

const OPERATORS: Readonly<Record<string, Way>> = {
  add: '+', sub: '−', subtract: '−', mul: '·', multiply: '·', div: '/', divide: '/', true_divide: '/',
}

/** Operands of one shape after broadcasting. */
function stretched(op: Op, tensor: Find, result: Tensor): Origins {
  const factors = op.inputs.flatMap((id, input): Source[] => {
    const operand = tensor(id)
    if (!operand) return []
    const of = (made: number): number => stretchedFrom(operand.shape, result.shape, made)
    return [source({ input, size: count(result.shape), of })]
  })
  const way = OPERATORS[op.name.replace(/_$/, '')]
  return {
    kind: 'stretched', terms: [factors], way: way && factors.length === 2 ? way : null, stretched: stretchedInputs(op),
  }
}

/** The tensor given for a parameter: its place among the inputs. */
function given(op: Op, name: string, place: number): number {
  const tensor = argumentOf(op, name, place)?.tensor
  return tensor == null ? -1 : op.inputs.indexOf(tensor)
}

/** The text given for a parameter. */
function textOf(op: Op, name: string, place: number): string | undefined {
  const text = argumentOf(op, name, place)?.text
  return text === 'None' ? undefined : (text ?? undefined)
}

/** A convolution or a pooling: every cell of the result is made of the cells in one window. */
function slid(op: Op, window: Window, tensor: Find, result: Tensor): Origins | null {
  const input = given(op, 'input', 0)
  const taken = tensor(op.inputs[input])
  if (!taken) return null
  const frame = new Frame(window, taken.shape, result.shape)
  if (window.kind === 'pool') return pooled(op, frame, input)
  const weight = given(op, 'weight', 1)
  const kernel = tensor(op.inputs[weight])
  if (!kernel) return null
  const bias = given(op, 'bias', 2)
  const size = count(result.shape)
  const terms = frame.channels(kernel.shape).flatMap((channel) =>
    frame.offsets.map((offset): Term => [
      source({ input, size, of: (made) => frame.read(made, channel.read, offset) }),
      source({ input: weight, size, of: (made) => flat(kernel.shape, [...channel.weight(made), ...offset]) }),
    ]),
  )
  const added: Term[] = bias < 0 ? [] : [[source({ input: bias, size, of: (made) => frame.channelOf(made) })]]
  return { kind: 'window', terms: [...terms, ...added], way: 'sum', stretched: new Map() }

  function pooled(op: Op, frame: Frame, input: number): Origins {
    const terms = frame.offsets.map((offset): Term => [
      source({ input, size: count(result.shape), of: (made) => frame.read(made, (at) => frame.channelOf(at), offset) }),
    ])
    const way = op.name.startsWith('max') ? 'max' : op.name.startsWith('avg') ? 'mean' : null
    const isAll = textOf(op, 'count_include_pad', 5) !== 'False'
    const own = textOf(op, 'divisor_override', 6)
    const divisor = own === undefined ? null : Number(own)
    return {
      kind: 'window', terms, way, stretched: new Map(), divisor, over: (made) => divisor ?? frame.covered(made, isAll),
    }
  }
}

interface Channel {
  /** The channel of the input for a cell of the result, and the first two places of the weight. */
  read(made: number): number
  weight(made: number): readonly [number, number]
}

/** The axes of a window between an input and a result, with or without a batch in front. */
class Frame {
  /** Every place in the window. */
  readonly offsets: readonly number[][]
  private readonly n: number

  constructor(
    private readonly window: Window,
    private readonly taken: readonly number[],
    private readonly made: readonly number[],
  ) {
    this.n = window.axes.length
    const kernel = window.axes.map((axis) => axis.kernel)
    this.offsets = Array.from({ length: count(kernel) }, (_, at) => positions(kernel, at))
  }

  /** The channel of a cell of the result. */
  channelOf(cell: number): number {
    return positions(this.made, cell)[this.made.length - this.n - 1] ?? 0
  }

  /** The channels of the input that one of the result is made of: those of its group. */
  channels(weight: readonly number[]): Channel[] {
    const { taken, n } = this
    const channels = taken[taken.length - n - 1]!
    if (this.window.kind === 'transpose') {
      const [inputs, each] = [weight[0]!, weight[1]!]
      const groups = this.made[this.made.length - n - 1]! / each
      const first = (made: number): number => Math.floor(this.channelOf(made) / each) * (inputs / groups)
      return Array.from({ length: inputs / groups }, (_, at) => ({
        read: (made) => first(made) + at, weight: (made) => [first(made) + at, this.channelOf(made) % each],
      }))
    }
    const [outputs, each] = [weight[0]!, weight[1]!]
    const groups = channels / each
    return Array.from({ length: each }, (_, at) => ({
      read: (made) => Math.floor(this.channelOf(made) / (outputs / groups)) * each + at,
      weight: (made) => [this.channelOf(made), at],
    }))
  }

  /** The cell of the input that lies at a place in the window of a cell; −1 where that is padding. */
  read(made: number, channel: (made: number) => number, offset: readonly number[]): number {
    const at = this.along(made, offset)
    const sizes = this.window.axes.map(({ size }) => size)
    const isInside = at.every((where, axis) => Number.isInteger(where) && where >= 0 && where < sizes[axis]!)
    if (!isInside) return -1
    const batch = positions(this.made, made).slice(0, this.made.length - this.n - 1)
    return flat(this.taken, [...batch, channel(made), ...at])
  }

  /** How many cells a mean is taken of: those in the window, of the padding those that are there, if they count. */
  covered(made: number, isPaddingCounted: boolean): number {
    return this.offsets.filter((offset) =>
      this.along(made, offset).every((where, axis) => {
        const { size, padding } = this.window.axes[axis]!
        return isPaddingCounted ? where < size + padding : where >= 0 && where < size
      }),
    ).length
  }

  private along(made: number, offset: readonly number[]): number[] {
    const at = positions(this.made, made).slice(this.made.length - this.n)
    return this.window.axes.map(({ stride, padding, dilation = 1 }, axis) =>
      this.window.kind === 'transpose'
        ? (at[axis]! + padding - offset[axis]! * dilation) / stride
        : at[axis]! * stride - padding + offset[axis]! * dilation,
    )
  }
}

/** Windows laid out beside each other: of `x.unfold(axis, size, step)`, or as columns of `F.unfold`. */
function unfolded(op: Op, tensor: Find, result: Tensor): Origins | null {
  const taken = tensor(op.inputs[0])
  if (!taken) return null
  const lay = op.function.includes('functional') ? columns : along
  const of = lay(op, taken.shape, result.shape)
  if (!of) return null
  return {
    kind: 'unfolded', terms: [[source({ input: 0, size: count(result.shape), of })]], way: null, stretched: new Map(),
  }
}

function along(op: Op, taken: readonly number[], made: readonly number[]): ((cell: number) => number) | null {
  const [axis, step] = [textOf(op, 'dimension', 1), textOf(op, 'step', 3)].map(Number)
  if (!Number.isInteger(axis) || !Number.isInteger(step)) return null
  const rolled = axis! < 0 ? axis! + taken.length : axis!
  return (cell) => {
    const at = positions(made, cell)
    const within = at.pop()!
    return flat(taken, at.with(rolled, at[rolled]! * step! + within))
  }
}

function columns(op: Op, taken: readonly number[], made: readonly number[]): ((cell: number) => number) | null {
  const pair = (name: string, place: number, otherwise: string): number[] => {
    const sizes = (textOf(op, name, place) ?? otherwise).match(/-?\d+/g)?.map(Number) ?? []
    return sizes.length === 1 ? [sizes[0]!, sizes[0]!] : sizes
  }
  const [kernel, dilation, padding, stride] = [
    pair('kernel_size', 1, ''), pair('dilation', 2, '1'), pair('padding', 3, '0'), pair('stride', 4, '1'),
  ]
  if ([kernel, dilation, padding, stride].some((sizes) => sizes.length !== 2) || taken.length < 3) return null
  const image = taken.slice(-2)
  const windows = image.map((size, axis) =>
    Math.floor((size + 2 * padding[axis]! - dilation[axis]! * (kernel[axis]! - 1) - 1) / stride[axis]!) + 1)
  return (cell) => {
    const at = positions(made, cell)
    const window = positions(windows, at.pop()!)
    const [channel, ...offset] = positions([taken[taken.length - 3]!, ...kernel], at.pop()!)
    const where = window.map((place, axis) => place * stride[axis]! - padding[axis]! + offset[axis]! * dilation[axis]!)
    if (where.some((place, axis) => place < 0 || place >= image[axis]!)) return -1
    return flat(taken, [...at, channel!, ...where])
  }
}
