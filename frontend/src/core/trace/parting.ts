// Where two runs part, in sentences: what differs, in the order it happened.

import type { Comparison, Op, Split, Tensor } from '../../api/types'
import { formatShape, wireNumber } from '../words/format'
import type { Words } from '../words/sentences'
import { areStrangers, inWords, isBeyondRounding } from './comparisons'
import { isSumOf } from './local'
import { brief, briefValue, codeAt, nodeName, passName, tensorName, typeAndName } from './naming'
import type { TraceIndex } from './trace-index'

const CODE_LETTERS = 32
/** Runs that reset otherwise part in one of the first passes. */
const MOST_ADDED = 200

type Said = [step: number, sentence: string]

/** Everything that is told of a run beside the first, whose name is A. */
export function partingOf(t: Words, here: TraceIndex, there: TraceIndex, told: Comparison, name: string): string[] {
  const parting = new Parting(t, here, there, told, name)
  return parting
    .all()
    .sort(([a], [b]) => a - b)
    .map(([, sentence]) => sentence)
}

class Parting {
  constructor(
    private readonly t: Words,
    private readonly here: TraceIndex,
    private readonly there: TraceIndex,
    private readonly told: Comparison,
    private readonly b: string,
  ) {}

  all(): Said[] {
    const { told, t, b } = this
    const whole: Said[] = told.differs ? [] : [[0, t('compare.same', { b })]]
    return [...this.seeds(), ...whole, ...this.failures(), ...(areStrangers(told) ? this.strange() : this.parted())]
  }

  private seeds(): Said[] {
    const [x, y] = [this.here.trace.program.seed ?? 0, this.there.trace.program.seed ?? 0]
    return x === y ? [] : [[0, this.t('compare.seed', { b: this.b, x, y })]]
  }

  private failures(): Said[] {
    const { told, b, t } = this
    const sides = [{ side: told.here, a: 'A' }, { side: told.there, a: b }]
    return sides.flatMap(({ side, a }): Said[] => {
      if (!side.failure) return []
      const key = side.failure_line ? 'compare.failed' : 'compare.failed_nowhere'
      return [[this.end, t(key, { a, error: side.failure, line: side.failure_line ?? 0 })]]
    })
  }

  private strange(): Said[] {
    const { told, b } = this
    const counts = { n: told.matched ?? 0, a: told.here.ops, m: told.there.ops }
    return [[0, this.t('compare.strangers', { b, ...counts })]]
  }

  private parted(): Said[] {
    const { value, graph, printed, gradient } = this.told
    return [
      ...this.values(value),
      ...this.alone(this.here, this.told.only_here?.[0], 'A'),
      ...this.alone(this.there, this.told.only_there?.[0], this.b),
      ...(graph ? [this.graphs(graph)] : []),
      ...(printed ? [this.printed(printed)] : []),
      ...(gradient ? [this.gradients(gradient)] : []),
      ...this.sums(),
    ]
  }

  /** The first pass after which the `.grad` of a leaf is another one, though the same was added to it. */
  private sums(): Said[] {
    const { here, there, b } = this
    const added = [...here.accumulationsOf.values()].flat().sort((one, two) => one.step - two.step)
    for (const { pass, accumulation: { tensor, delta, before, after }, step } of added.slice(0, MOST_ADDED)) {
      const name = tensorName(here, here.tensor(tensor))
      const other = there.trace.passes[here.trace.passes.indexOf(pass)]?.accumulations.find((each) =>
        tensorName(there, there.tensor(each.tensor)) === name)
      if (!other || this.agree(before, other.before) !== false || !this.agree(delta, other.delta)) continue
      const [x, y] = [here.tensor(after), there.tensor(other.after)].map((grad) => (grad ? brief(grad) : 'None'))
      return [[step, this.t('compare.sums', { b, name, pass: passName(pass, this.t), x: x!, y: y! })]]
    }
    return []
  }

  /** Whether two gradients are the same but for rounding, None among them; null where their values were not kept. */
  private agree(one: string | null, two: string | null): boolean | null {
    const [a, b] = [this.here.tensor(one), this.there.tensor(two)]
    if (!a || !b) return a === b
    if (a.shape.join() !== b.shape.join()) return false
    if (!a.data || !b.data || a.dtype !== b.dtype) return null
    return a.data.every((value, at) => isSumOf([wireNumber(value)], wireNumber(b.data![at]!), a.dtype))
  }

  private values(value: Split | null | undefined): Said[] {
    const { b, here, told } = this
    if (!value) {
      const differ = (told.tensors ?? []).some((row) => isBeyondRounding(row.value ?? null))
      return (told.matched ?? 0) > 0 && told.differs && !differ ? [[0, this.t('compare.values_same', { b })]] : []
    }
    if (!value.tensor_here) return []
    const line = this.lines(value) + this.turn(here.op(value.here))
    const name = tensorName(here, here.tensor(value.tensor_here))
    const key = value.given ? 'compare.given' : 'compare.value'
    return [[here.stepOfOp.get(value.here ?? '') ?? 0, this.t(key, { b, line, name, ...this.both(value) })]]
  }

  /** An op that only one of them ran. */
  private alone(index: TraceIndex, id: string | undefined, a: string): Said[] {
    const op = index.op(id)
    if (!op) return []
    const line = op.span ? this.t('inspect.line', { line: op.span.line }) + this.turn(op) : op.name
    const code = codeAt(index.trace.program.code, op.span, CODE_LETTERS) || op.name
    return [[index.stepOfOp.get(op.id) ?? 0, this.t('compare.only', { a, code, line })]]
  }

  private graphs(graph: Split): Said {
    const { here, there, b } = this
    const [x, y] = [this.madeBy(here, graph.here), this.madeBy(there, graph.there)]
    const ends = { x: this.endsOf(here, graph.here), y: this.endsOf(there, graph.there) }
    const code = codeAt(here.trace.program.code, here.op(graph.here)?.span, CODE_LETTERS)
    const key = x === y ? 'compare.graph_ends' : 'compare.graph'
    const sentence = this.t(key, { b, line: this.lines(graph), code, ...(x === y ? ends : { x, y }) })
    return [here.stepOfOp.get(graph.here ?? '') ?? 0, sentence]
  }

  private printed({ line, here, there }: NonNullable<Comparison['printed']>): Said {
    return [this.end, this.t('compare.printed', { b: this.b, line, x: this.quoted(here), y: this.quoted(there) })]
  }

  private gradients(gradient: Split): Said {
    const { here, b } = this
    const name = typeAndName(here, here.node(gradient.here))
    const sentence = this.t('compare.gradient', { b, name, ...this.both(gradient) })
    return [here.passStart(gradient.pass ?? ''), sentence]
  }

  private get end(): number {
    return this.here.trace.timeline.length
  }

  /** The two tensors of a place where runs part. */
  private both(split: Split): { x: string; y: string } {
    const [a, b] = [this.here.tensor(split.tensor_here), this.there.tensor(split.tensor_there)]
    const isReshaped = a && b && String(a.shape) !== String(b.shape)
    const said = (tensor: Tensor): string => isReshaped ? formatShape(tensor.shape) : briefValue(tensor, this.t)
    const [x, y, place] = a && b ? inWords(a, b, said) : [a ? said(a) : 'None', b ? said(b) : 'None', '']
    return place ? { x: `${place} = ${x}`, y: `${place} = ${y}` } : { x, y }
  }

  private lines({ line: here, line_there: there }: Split): string {
    if (here == null) return ''
    const isMoved = there != null && there !== here
    return isMoved ? this.t('compare.lines', { here, there, b: this.b }) : this.t('inspect.line', { line: here })
  }

  /** What an op made of autograd's graph. */
  private madeBy(index: TraceIndex, id: string | null): string {
    const types = (index.op(id)?.nodes ?? []).map((node) => index.node(node)?.type ?? node)
    return types.length > 0 ? this.listed(types) : this.t('compare.no_node')
  }

  private endsOf(index: TraceIndex, id: string | null): string {
    const edges = (index.op(id)?.nodes ?? []).flatMap((node) => index.node(node)?.edges ?? [])
    const ends = edges.flatMap(({ to }) => index.node(to) ?? [])
    const names = ends.map((end) => (end.variable ? nodeName(index, end) : end.type))
    return names.length > 0 ? this.t('compare.to', { names: this.listed(names) }) : this.t('compare.nowhere')
  }

  private listed(names: readonly string[]): string {
    return names.map((name) => `\`${name}\``).join(this.t('step.and'))
  }

  /** How often its line had run by then: the program may count the turns of its loop otherwise. */
  private turn(op: Op | undefined): string {
    return op?.iteration ? this.t('compare.turn', { n: op.iteration + 1 }) : ''
  }

  private quoted(text: string | null): string {
    if (text === null) return this.t('compare.nothing')
    const short = text.length > 60 ? `${text.slice(0, 59)}…` : text.replace(/,\s*$/, '…')
    return short.includes('`') || short.trim() === '' ? `“${short}”` : `\`${short}\``
  }
}
