// The tensors of an op as grids under each other: what it took, what came out of it, and which cells made which.

import type { Node, Op, Tensor, Visit } from '../../api/types'
import { element, slopeAt } from '../trace/local'
import { edgeName, nameOf } from '../trace/naming'
import { gradientLetter } from '../trace/rule-letters'
import type { TraceIndex } from '../trace/trace-index'
import { formatShape, textWidth } from '../words/format'
import type { Words } from '../words/sentences'
import {
  axisOf, blockOf, blocksOf, cellsOf, cellsRead, cornerOf, gridOf, instance, pairsIn, pairsOf, rule, sizeOf, usesOf,
  type Grid, type Names, type Pair,
} from '../ops/cells'
import { summedOrigins, type Origins } from '../ops/origins'
import { brackets, count, placeable, positions } from '../ops/places'
import { written } from '../ops/terms'

export type Side = 'input' | 'output' | 'index'

interface DrawnTensor {
  side: Side
  /** Index into the inputs or outputs. */
  at: number
  tensor: Tensor
  /** In the shape of the result where broadcasting stretched it. */
  grid: Grid
  /** What broadcasting repeated in it. */
  ghosts: ReadonlySet<number>
  name: string
  caption: string
  note: string
}

/** A cell of an input or a result. */
export interface Pointed {
  side: 'input' | 'output'
  at: number
  cell: number
}

/** What is drawn: tensors that were taken, tensors that came of them, and how. */
export interface Subject {
  /** None, where gradients were summed between two nodes. */
  readonly op: Op | null
  readonly inputs: readonly Named[]
  readonly outputs: readonly Named[]
  readonly origins: Origins
  /** By what a cell of the first input was multiplied on the way; absent where it is read as it is. */
  slope?(read: number): number | null
}

export interface Named {
  readonly tensor: Tensor | undefined
  readonly name: string
}

/** An op and its tensors. */
export function subjectOf(index: TraceIndex, op: Op, origins: Origins): Subject {
  const named = (ids: readonly string[], nameless: string): Named[] => ids.map((id) => {
    const tensor = index.tensor(id)
    return { tensor, name: nameOf(index, tensor) || nameOf(index, index.tensor(tensor?.base)) || nameless }
  })
  return { op, inputs: named(op.inputs, 'input'), outputs: named(op.outputs, 'out'), origins }
}

/** What a node sent through a slot, and the cells of what arrived that were summed for it; null without
 *  broadcasting. */
export function subjectOfSum(index: TraceIndex, node: Node, visit: Visit, slot: number): Subject | null {
  const [arrived, left] = [index.tensor(visit.entered[0]), index.tensor(visit.left[slot])]
  const origins = left && visit.entered.length === 1 ? summedOrigins(visit, slot, left) : null
  const whole = visit.reduced?.find((reduced) => reduced.slot === slot)?.shape ?? []
  if (!arrived || !origins || arrived.shape.join() !== whole.join()) return null
  return {
    op: null, inputs: [{ tensor: arrived, name: gradientLetter(index) }],
    outputs: [{ tensor: left, name: `→ ${edgeName(index, node.edges[slot])}` }], origins,
    slope: (read) => slopeAt(index, visit, slot, read),
  }
}

/** A cell of the result with its numbers; null where they are not there or don't come to it. */
export function equationOf({ inputs, outputs, origins, slope }: Subject, cell: number): string | null {
  const made = element(outputs[0]?.tensor, cell)
  if (made === null || origins.way === null) return null
  const terms: number[][] = []
  for (const term of origins.terms) {
    const pairs = pairsIn(term, 0, cell)
    if (pairs.length < term.length) continue
    const values = pairs.map(({ source, read }) => element(inputs[source.input]?.tensor, read))
    const by = slope ? slope(pairs[0]!.read) : 1
    if (by === null || values.includes(null)) return null
    terms.push([...values.map((value) => value!), ...(by === 1 ? [] : [by])])
  }
  return written(origins.way, terms, made, origins.over?.(cell))
}

const CAPTION = 17
const BETWEEN = 12
const LONGEST_NAME = 14
const MOST_ARROWS = 16
/** Planes of one tensor that are drawn at once; of more only those that the cell is made of. */
const MOST_BLOCKS = 4
const NAME = /^[\p{L}_][\w.]*$/u
const ONE_BY_ONE = new Set(['gather', 'take_along_dim', 'take', 'scatter', 'scatter_'])
const WITH_INDEX = new Set([...ONE_BY_ONE, 'index_select', 'embedding'])
const WRITES = new Set(['setitem', 'scatter', 'scatter_', 'index_fill', 'index_fill_', 'masked_fill', 'masked_fill_'])
const MASKED = new Set(['masked_select', 'nonzero', 'argwhere'])

export class CellsScene {
  readonly drawn: readonly DrawnTensor[]
  readonly height: number
  readonly width: number
  /** Whether it writes into a tensor whose other cells stay as they were. */
  readonly writes: boolean
  /** What is told of: the cell that is pointed at, else the first that came from somewhere; null where nothing has
   *  cells. */
  readonly active: Pointed | null
  readonly pairs: readonly Pair[]
  private readonly op: Op | null
  private readonly picks: boolean

  constructor(
    private readonly subject: Subject,
    private readonly t: Words,
    room: number,
    pointed: Pointed | null,
  ) {
    const { op, origins } = subject
    this.op = op
    this.picks = origins.kind === 'picked' || origins.kind === 'unfolded'
    this.writes = this.picks && WRITES.has(op?.name ?? '')
    this.active = count(this.whole) > 0 ? pointed ?? this.first : null
    this.pairs = this.pairsAt(this.active)
    const sources = origins.terms.flat()
    const inputs = numbers(sources.map(({ input }) => input)).filter((at) => !(this.writes && at === 0))
    const indices = WITH_INDEX.has(op?.name ?? '') ? this.indices(inputs) : []
    this.drawn = [
      ...inputs.flatMap((at) => this.shown('input', at, room)),
      ...numbers(sources.map(({ output }) => output)).flatMap((at) => this.shown('output', at, room)),
      ...indices.flatMap((at) => this.shown('index', at, room)),
    ]
    let y = 0
    for (const { grid } of this.drawn) {
      grid.x = 1
      grid.y = y + CAPTION
      y += CAPTION + sizeOf(grid).h + BETWEEN
    }
    this.height = y
    this.width = Math.max(room, ...this.drawn.map(({ grid }) => sizeOf(grid).w + 2))
  }

  get made(): readonly DrawnTensor[] {
    return this.drawn.filter(({ side }) => side === 'output')
  }

  /** The first cell that came from somewhere. */
  private get first(): Pointed | null {
    if (!this.picks) return { side: 'output', at: 0, cell: 0 }
    for (const { input, output, size, of } of this.subject.origins.terms.flat()) {
      if (this.writes && input === 0) continue
      for (let cell = 0; cell < size; cell++) if (of(cell) >= 0) return { side: 'output', at: output, cell }
    }
    return null
  }

  private pairsAt(pointed: Pointed | null): Pair[] {
    if (!pointed) return []
    const { origins } = this.subject
    const find = pointed.side === 'output' ? pairsOf : usesOf
    return find(origins, pointed.at, pointed.cell).filter(({ source }) => !(this.writes && source.input === 0))
  }

  /** The cell of a tensor that is drawn at a cell of its grid: of one that was stretched the one that was repeated. */
  cellOf({ side, at }: DrawnTensor, drawn: number): number {
    const { terms, stretched } = this.subject.origins
    const source = side === 'input' && stretched.has(at) ? terms.flat().find(({ input }) => input === at) : undefined
    return source?.of(drawn) ?? drawn
  }

  /** Cells with a line around them. */
  lit(drawn: DrawnTensor): number[] {
    const { active, pairs } = this
    if (drawn.side === 'index') {
      const cell = pairs[0] ? this.cellOfIndex(drawn, pairs[0]) : -1
      return cell >= 0 ? [cell] : []
    }
    const own = active && drawn.side === active.side && drawn.at === active.at ? [active.cell] : []
    if (drawn.side === 'input' && drawn.ghosts.size > 0) return this.litCopies(drawn, own)
    const others = pairs.flatMap(({ source, read, made }) => {
      if (drawn.side === 'input') return source.input === drawn.at ? [read] : []
      return source.output === drawn.at ? [made] : []
    })
    return [...new Set([...own, ...others])]
  }

  /** Of a stretched operand: the copy a cell of the result took and the cell it is a copy of, or all copies of a
   *  cell. */
  private litCopies(drawn: DrawnTensor, [pointed]: readonly number[]): number[] {
    const taken = this.pairs.filter(({ source }) => source.input === drawn.at)
    const wanted = pointed ?? taken[0]?.read
    const copies = cellsOf(drawn.grid).filter((cell) => this.cellOf(drawn, cell) === wanted)
    return pointed === undefined
      ? copies.filter((cell) => !drawn.ghosts.has(cell) || taken.some(({ made }) => made === cell))
      : copies
  }

  /** Cells that were read, or written. */
  filled({ side, at, grid }: DrawnTensor): number[] {
    if (!this.picks) return []
    if (side === 'input') return [...cellsRead(this.subject.origins, at)]
    if (side === 'index' || !this.writes) return []
    const before = this.kept(at)
    return cellsOf(grid).filter((cell) => !before.has(cell))
  }

  /** Cells that a mask leaves out. */
  hatched({ side, at, grid }: DrawnTensor): number[] {
    if (!MASKED.has(this.op?.name ?? '') || side !== 'input') return []
    const read = cellsRead(this.subject.origins, at)
    return cellsOf(grid).filter((cell) => !read.has(cell))
  }

  isPale({ side, at, ghosts }: DrawnTensor, cell: number): boolean {
    if (side === 'input') return ghosts.has(cell) || (this.picks && !cellsRead(this.subject.origins, at).has(cell))
    return side === 'output' && this.writes && this.kept(at).has(cell)
  }

  /** From cells of the result to the cells they were read from; none where there are too many. */
  arrows(pairs: readonly Pair[]): { path: string; head: string }[] {
    return pairs.length > MOST_ARROWS || !this.picks ? [] : pairs.flatMap((pair) => this.arrow(pair) ?? [])
  }

  /** Every pair, of an op that takes cells one by one. */
  get all(): Pair[] {
    if (!ONE_BY_ONE.has(this.op?.name ?? '')) return []
    const sources = this.subject.origins.terms.flat()
    const drawn = sources.filter(({ input, position }) => !(this.writes && input === 0) && !position)
    const pairs = drawn.flatMap((source) =>
      Array.from({ length: source.size }, (_, made) => ({ source, made, read: source.of(made) })),
    )
    return pairs.filter(({ read }) => read >= 0)
  }

  /** How the cell came about: the rule in letters, where there is one, then with its numbers. */
  get formulas(): string[] {
    const [first] = this.pairs
    if (!first) return []
    if (!this.picks) return this.active?.side === 'output' ? this.worked(this.active) : []
    const given = this.subject.inputs[first.source.input]
    const result = this.subject.outputs[first.source.output]
    if (!given?.tensor || !result?.tensor || !this.op) return []
    const shapes = { made: result.tensor.shape, read: given.tensor.shape }
    const source = this.drawn.find(({ side, at }) => side === 'input' && at === first.source.input)
    const names: Names = {
      made: letter(result), read: letter(given),
      index: this.drawn.find(({ side }) => side === 'index')?.name ?? 'index',
    }
    const general = rule(this.op, names, shapes)
    const text = source?.grid.texts?.[first.read] ?? ''
    return [...(general ? [general] : []), instance(this.op, names, shapes, first, text)]
  }

  /** `z[0][1] = 1·2 + 3·4 = 14`; where the numbers are not there what it is made of, or nothing. */
  private worked({ at, cell }: Pointed): string[] {
    const { outputs, origins } = this.subject
    const result = outputs[at]!
    const where = brackets(positions(result.tensor?.shape ?? [], cell))
    const made = `${origins.kind === 'summed' ? result.name : letter(result)}${where}`
    const equation = equationOf(this.subject, cell)
    if (equation !== null) return [`${made} = ${equation}`]
    if (origins.kind !== 'stretched') return []
    const read = this.pairs.map(({ source, read }) => {
      const input = this.subject.inputs[source.input]!
      return `${letter(input)}${brackets(positions(input.tensor?.shape ?? [], read))}`
    })
    return [`${made} ← ${read.join(', ')}`]
  }

  /** How many cells of the window lie outside of the input, and how many it has. A transposed convolution has no window
   *  over its input. */
  get padded(): { n: number; of: number } {
    const { terms, kind } = this.subject.origins
    const { active } = this
    const isOver = kind === 'window' && this.op?.window?.kind !== 'transpose'
    if (!isOver || active?.side !== 'output') return { n: 0, of: 0 }
    const first = terms[0]![0]!.input
    const inside = terms.flat().filter(({ input }) => input === first)
    return { n: inside.filter((source) => source.of(active.cell) < 0).length, of: inside.length }
  }

  /** Of a cell of a result that nothing was read for: a plain number was put there, or it is as it was. */
  nowhere({ at, cell }: Pointed): string {
    const shape = this.subject.outputs[at]?.tensor?.shape ?? []
    const key = this.writes && this.kept(at).has(cell) ? 'cells.kept' : 'cells.number'
    const where = brackets(positions(shape, cell)) || '()'
    return this.t(this.op?.name === 'unfold' ? 'cells.padding' : key, { cell: where })
  }

  private indices(sources: readonly number[]): number[] {
    return this.subject.inputs.flatMap(({ tensor }, at) => {
      const isOther = sources.includes(at) || (this.writes && at === 0)
      return !isOther && /^u?int/.test(tensor?.dtype ?? '') ? [at] : []
    })
  }

  private shown(side: Side, at: number, room: number): DrawnTensor[] {
    const { inputs, outputs, origins } = this.subject
    const { tensor, name: own = '' } = (side === 'output' ? outputs : inputs)[at] ?? {}
    if (!tensor) return []
    const name = side === 'index' && !NAME.test(own) ? 'index' : own
    const of = count(tensor.shape)
    const n = side === 'input' ? cellsRead(origins, at).size : of - this.kept(at).size
    const isCounted = this.picks && (side === 'input' || (side === 'output' && this.writes))
    const said = isCounted ? ` · ${this.t(side === 'input' ? 'cells.read' : 'cells.written', { n, of })}` : ''
    const axes = side === 'input' ? origins.stretched.get(at) : undefined
    const shape = axes ? `${formatShape(tensor.shape)} → ${formatShape(this.whole)}` : formatShape(tensor.shape)
    const caption = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name
    const fits = textWidth(caption, 11) + 8 + textWidth(shape + said, 9.5) <= room
    const drawn = axes ? this.stretchedOut(at, tensor) : tensor
    const grid = gridOf(drawn, room, this.blocks(side, at, drawn.shape))
    const ghosts = axes
      ? cellsOf(grid).filter((cell) => axes.some((axis) => positions(drawn.shape, cell)[axis] !== 0))
      : []
    return [{ side, at, tensor, grid, ghosts: new Set(ghosts), name, caption, note: fits ? shape + said : shape }]
  }

  /** The shape operands were stretched to. */
  private get whole(): readonly number[] {
    return this.subject.outputs[0]?.tensor?.shape ?? []
  }

  /** An operand as broadcasting uses it: in the shape of the result, its cells repeated. */
  private stretchedOut(at: number, tensor: Tensor): Tensor {
    const shape = [...this.whole]
    const source = this.subject.origins.terms.flat().find(({ input }) => input === at)
    const { data } = tensor
    if (!data || !source) return { ...tensor, shape }
    return { ...tensor, shape, data: Array.from({ length: count(shape) }, (_, cell) => data[source.of(cell)]!) }
  }

  /** The planes that are drawn: all of them, or of many those the cell has to do with. */
  private blocks(side: Side, at: number, shape: readonly number[]): readonly number[] | undefined {
    if (this.picks || blocksOf(shape) <= MOST_BLOCKS) return undefined
    const { active, pairs } = this
    const isStretched = side === 'input' && this.subject.origins.stretched.has(at)
    const cells = pairs.flatMap(({ source, made, read }) => {
      if (side === 'output' || isStretched) return [made]
      return source.input === at ? [read] : []
    })
    const own = active?.side === side && active.at === at && !isStretched ? [active.cell] : []
    return numbers([...own, ...cells].map((cell) => blockOf(shape, cell))).slice(0, MOST_BLOCKS)
  }

  /** Planes of an input that the cell was made of and that are not drawn. */
  hiddenBlocks({ at, tensor, grid }: DrawnTensor): number {
    const read = this.active?.side === 'output' ? this.pairs.filter(({ source }) => source.input === at) : []
    const blocks = new Set(read.map(({ read }) => blockOf(tensor.shape, read)))
    return Math.max(0, blocks.size - grid.blocks.length)
  }

  /** Of an op that writes: the cells of the result that are as they were. */
  private kept(output: number): Set<number> {
    const kept = new Set<number>()
    const sources = this.writes ? this.subject.origins.terms.flat() : []
    const before = sources.find((source) => source.output === output && source.input === 0)
    if (before) for (let cell = 0; cell < before.size; cell++) if (before.of(cell) >= 0) kept.add(cell)
    return kept
  }

  /** The cell of the index tensor that a result's cell was found by. */
  private cellOfIndex({ tensor, grid }: DrawnTensor, { source, made, read }: Pair): number {
    const name = this.op?.name ?? ''
    const shape = this.subject.outputs[source.output]?.tensor?.shape ?? []
    if (name === 'index_select') return positions(shape, made)[axisOf(this.op!, shape.length) ?? 0] ?? 0
    if (name === 'embedding') return Math.floor(made / Math.max(1, shape[shape.length - 1] ?? 1))
    if (name.startsWith('scatter')) {
      const from = positions(this.subject.inputs[source.input]?.tensor?.shape ?? [], read)
      return from.reduce((sum, where, axis) => sum * (tensor.shape[axis] ?? 1) + where, 0)
    }
    return made < grid.count ? made : -1
  }

  private arrow({ source, made, read }: Pair): { path: string; head: string } | null {
    const find = (wanted: Side, number: number) =>
      this.drawn.find(({ side, at }) => side === wanted && at === number)?.grid
    const [from, to] = [find('output', source.output), find('input', source.input)]
    const [below, above] = [from && cornerOf(from, made), to && cornerOf(to, read)]
    if (!from || !to || !below || !above) return null
    const [[mx, my], [rx, ry]] = [below, above]
    const [x0, x1, y1] = [mx + from.cell.w / 2, rx + to.cell.w / 2, ry + to.cell.h]
    const bend = (my - y1) / 2
    return {
      path: `M${x0} ${my}C${x0} ${my - bend} ${x1} ${y1 + bend} ${x1} ${y1 + 4}`, head: `M${x1} ${y1}l-3.2 6h6.4z`,
    }
  }
}

function numbers(all: readonly number[]): number[] {
  return [...new Set(all)].sort((a, b) => a - b)
}

/** What stands for a tensor in a formula. */
function letter({ name, tensor }: Named): string {
  return tensor?.shape.length ? placeable(name) : name
}
