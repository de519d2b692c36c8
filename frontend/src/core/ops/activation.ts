// Activations as curves: value and slope at each place, from their definitions.

import type { Op, Tensor } from '../../api/types'
import { wireNumber } from '../words/format'

interface Curve {
  value(x: number): number
  slope(x: number): number
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))

const CURVES: Readonly<Record<string, Curve>> = {
  sigmoid: { value: sigmoid, slope: (x) => sigmoid(x) * (1 - sigmoid(x)) },
  tanh: { value: Math.tanh, slope: (x) => 1 - Math.tanh(x) ** 2 },
  relu: { value: (x) => Math.max(0, x), slope: (x) => (x > 0 ? 1 : 0) },
  silu: { value: (x) => x * sigmoid(x), slope: (x) => sigmoid(x) * (1 + x * (1 - sigmoid(x))) },
}
const MOST_POINTS = 16
/** As far as the curves bend. */
const REACH = 5

export interface Activation {
  curve: Curve
  /** Where the op's elements lie, evenly chosen among many. */
  points: readonly { x: number; y: number }[]
  elements: number
  /** From where to where it is drawn. */
  from: number
  to: number
}

/** The curve of an op and the places of its elements on it; null of another op, or where the elements are not known. */
export function activationOf(op: Op, tensor: (id: string | undefined) => Tensor | undefined): Activation | null {
  const curve = CURVES[op.name]
  const [given, made] = [tensor(op.inputs[0])?.data?.map(wireNumber), tensor(op.outputs[0])?.data?.map(wireNumber)]
  if (!curve || op.raised || !given?.length || given.length !== made?.length) return null
  if (!given.every(Number.isFinite)) return null
  const every = Math.ceil(given.length / MOST_POINTS)
  const points = given.map((x, at) => ({ x, y: made[at]! })).filter((_, at) => at % every === 0)
  const far = Math.max(REACH, ...points.map(({ x }) => Math.abs(x)))
  return { curve, points, elements: given.length, from: -far, to: far }
}
