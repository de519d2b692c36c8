// The tensors of an op that picks, as grids under each other: what was read, what came out of it, by which index.

import type { Op, Tensor } from '../../api/types'
import { tensorName } from '../trace/naming'
import type { TraceIndex } from '../trace/trace-index'
import { formatShape, textWidth } from '../words/format'
import type { Words } from '../words/sentences'
import {
  axisOf, brackets, cellsRead, cornerOf, count, gridOf, instance, pairsOf, place, rule, sizeOf, type Grid, type Names,
  type Pair,
} from '../ops/cells'

export type Side = 'input' | 'output' | 'index'

export interface DrawnTensor {
  side: Side
  /** Index into the op's inputs or outputs. */
  at: number
  tensor: Tensor
  grid: Grid
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

const CAPTION = 17
const BETWEEN = 12
const LONGEST_NAME = 14
const MOST_ARROWS = 16
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

  constructor(
    private readonly index: TraceIndex,
    private readonly op: Op,
    private readonly t: Words,
    room: number,
  ) {
    this.writes = WRITES.has(op.name)
    const reads = op.reads ?? []
    const sources = numbers(reads.map(({ input }) => input)).filter((at) => !(this.writes && at === 0))
    const indices = WITH_INDEX.has(op.name) ? this.indices(sources) : []
    this.drawn = [
      ...sources.flatMap((at) => this.shown('input', at, op.inputs[at], room)),
      ...numbers(reads.map(({ output = 0 }) => output)).flatMap((at) =>
        this.shown('output', at, op.outputs[at], room),
      ),
      ...indices.flatMap((at) => this.shown('index', at, op.inputs[at], room)),
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
  get first(): Pointed | null {
    for (const { input, output = 0, cells } of this.op.reads ?? []) {
      const cell = this.writes && input === 0 ? -1 : cells.findIndex((read) => read >= 0)
      if (cell >= 0) return { side: 'output', at: output, cell }
    }
    return null
  }

  pairs(pointed: Pointed | null): Pair[] {
    const found = pointed ? pairsOf(this.op, pointed.side, pointed.at, pointed.cell) : []
    return found.filter((pair) => !(this.writes && pair.reads.input === 0))
  }

  /** Cells with a line around them. */
  lit(drawn: DrawnTensor, pointed: Pointed | null, pairs: readonly Pair[]): number[] {
    if (drawn.side === 'index') {
      const cell = pairs[0] ? this.cellOfIndex(drawn, pairs[0]) : -1
      return cell >= 0 ? [cell] : []
    }
    const own = pointed && drawn.side === pointed.side && drawn.at === pointed.at ? [pointed.cell] : []
    const others = pairs.flatMap(({ reads, read, made }) => {
      if (drawn.side === 'input') return reads.input === drawn.at ? [read] : []
      return (reads.output ?? 0) === drawn.at ? [made] : []
    })
    return [...new Set([...own, ...others])]
  }

  /** Cells that were read, or written. */
  filled({ side, at, grid }: DrawnTensor): number[] {
    if (side === 'input') return [...cellsRead(this.op, at)]
    if (side === 'index' || !this.writes) return []
    const before = this.kept(at)
    return cellsOf(grid).filter((cell) => !before.has(cell))
  }

  /** Cells that a mask leaves out. */
  hatched({ side, at, grid }: DrawnTensor): number[] {
    if (!MASKED.has(this.op.name) || side !== 'input') return []
    const read = cellsRead(this.op, at)
    return cellsOf(grid).filter((cell) => !read.has(cell))
  }

  isPale({ side, at }: DrawnTensor, cell: number): boolean {
    if (side === 'input') return !cellsRead(this.op, at).has(cell)
    return side === 'output' && this.writes && this.kept(at).has(cell)
  }

  /** From cells of the result to the cells they were read from; none where there are too many. */
  arrows(pairs: readonly Pair[]): { path: string; head: string }[] {
    return pairs.length > MOST_ARROWS ? [] : pairs.flatMap((pair) => this.arrow(pair) ?? [])
  }

  /** Every pair, of an op that takes cells one by one. */
  get all(): Pair[] {
    if (!ONE_BY_ONE.has(this.op.name)) return []
    const drawn = (this.op.reads ?? []).filter(({ input, position }) => !(this.writes && input === 0) && !position)
    return drawn.flatMap((reads) => reads.cells.flatMap((read, made) => (read >= 0 ? [{ reads, made, read }] : [])))
  }

  /** The rule in letters, where there is one, and for the first of these pairs in numbers. */
  formulas([first]: readonly Pair[]): string[] {
    if (!first) return []
    const { op, index } = this
    const given = index.tensor(op.inputs[first.reads.input])
    const result = index.tensor(op.outputs[first.reads.output ?? 0])
    if (!given || !result) return []
    const shapes = { made: result.shape, read: given.shape }
    const source = this.drawn.find(({ side, at }) => side === 'input' && at === first.reads.input)
    const names: Names = {
      made: namedOr(tensorName(index, result), 'out'), read: namedOr(tensorName(index, given), 'input'),
      index: this.drawn.find(({ side }) => side === 'index')?.name ?? 'index',
    }
    const general = rule(op, names, shapes)
    const text = source?.grid.texts?.[first.read] ?? ''
    return [...(general ? [general] : []), instance(op, names, shapes, first, text)]
  }

  /** Of a cell of a result that nothing was read for: a plain number was put there, or it is as it was. */
  nowhere({ at, cell }: Pointed): string {
    const shape = this.index.tensor(this.op.outputs[at])?.shape ?? []
    const key = this.writes && this.kept(at).has(cell) ? 'cells.kept' : 'cells.number'
    return this.t(key, { cell: brackets(place(shape, cell)) || '()' })
  }

  private indices(sources: readonly number[]): number[] {
    return this.op.inputs.flatMap((id, at) => {
      const isOther = sources.includes(at) || (this.writes && at === 0)
      return !isOther && /^u?int/.test(this.index.tensor(id)?.dtype ?? '') ? [at] : []
    })
  }

  private shown(side: Side, at: number, id: string | undefined, room: number): DrawnTensor[] {
    const tensor = this.index.tensor(id)
    if (!tensor) return []
    const own = tensorName(this.index, tensor)
    const name = side === 'index' ? namedOr(own, 'index') : own
    const of = count(tensor.shape)
    const n = side === 'input' ? cellsRead(this.op, at).size : of - this.kept(at).size
    const isCounted = side === 'input' || (side === 'output' && this.writes)
    const said = isCounted ? ` · ${this.t(side === 'input' ? 'cells.read' : 'cells.written', { n, of })}` : ''
    const caption = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name
    const shape = formatShape(tensor.shape)
    const fits = textWidth(caption, 11) + 8 + textWidth(shape + said, 9.5) <= room
    return [{ side, at, tensor, grid: gridOf(tensor, room), name, caption, note: fits ? shape + said : shape }]
  }

  /** Of an op that writes: the cells of the result that are as they were. */
  private kept(output: number): Set<number> {
    const before = (this.op.reads ?? []).find((reads) => (reads.output ?? 0) === output && reads.input === 0)
    return new Set(this.writes ? (before?.cells ?? []).flatMap((cell, at) => (cell >= 0 ? [at] : [])) : [])
  }

  /** The cell of the index tensor that a result's cell was found by. */
  private cellOfIndex({ tensor, grid }: DrawnTensor, { reads, made, read }: Pair): number {
    const { op, index } = this
    const shape = index.tensor(op.outputs[reads.output ?? 0])?.shape ?? []
    if (op.name === 'index_select') return place(shape, made)[axisOf(op, shape.length) ?? 0] ?? 0
    if (op.name === 'embedding') return Math.floor(made / Math.max(1, shape[shape.length - 1] ?? 1))
    if (op.name.startsWith('scatter')) {
      const source = place(index.tensor(op.inputs[reads.input])?.shape ?? [], read)
      return source.reduce((sum, where, axis) => sum * (tensor.shape[axis] ?? 1) + where, 0)
    }
    return made < grid.count ? made : -1
  }

  private arrow({ reads, made, read }: Pair): { path: string; head: string } | null {
    const find = (wanted: Side, number: number) =>
      this.drawn.find(({ side, at }) => side === wanted && at === number)?.grid
    const [from, to] = [find('output', reads.output ?? 0), find('input', reads.input)]
    if (!from || !to) return null
    const [[mx, my], [rx, ry]] = [cornerOf(from, made), cornerOf(to, read)]
    const [x0, x1, y1] = [mx + from.cell.w / 2, rx + to.cell.w / 2, ry + to.cell.h]
    const bend = (my - y1) / 2
    return {
      path: `M${x0} ${my}C${x0} ${my - bend} ${x1} ${y1 + bend} ${x1} ${y1 + 4}`, head: `M${x1} ${y1}l-3.2 6h6.4z`,
    }
  }
}

export function cellsOf(grid: Grid): number[] {
  return Array.from({ length: grid.count }, (_, cell) => cell)
}

function numbers(all: readonly number[]): number[] {
  return [...new Set(all)].sort((a, b) => a - b)
}

/** A name as the program has it, where it can stand in a formula. */
function namedOr(name: string, other: string): string {
  return NAME.test(name) ? name : other
}
