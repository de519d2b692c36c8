// Tensors as grids of cells, and how the cells are told of that an op picked.

import type { Op, Tensor } from '../../api/types'
import { formatNumber, textWidth, wireNumber } from '../words/format'
import { argumentOf } from './arguments'
import type { Origins, Source, Term } from './origins'
import { brackets, count, positions } from './places'

/** Cells of one tensor on a plane: the last axis across, the one before it down, the others as blocks under each
 *  other. */
export interface Grid {
  x: number
  y: number
  readonly cell: { readonly w: number; readonly h: number }
  readonly columns: number
  readonly rows: number
  /** The blocks that are drawn, in order. */
  readonly blocks: readonly number[]
  readonly count: number
  /** What stands in each cell; null where cells are too many or too small. */
  readonly texts: readonly string[] | null
  /** The index of each block, when there are several. */
  readonly labels: readonly string[]
}

export const CELL_TEXT = 10.5
export const BLOCK_LABEL = 13
const CELL_HEIGHT = 20
const LEAST_CELL = 24
const SQUARE = 13
const SMALLEST = 2
/** A row is broken where it would be longer. */
const LONGEST_ROW = 32

export function textsOf(tensor: Tensor): string[] | null {
  if (!tensor.data || tensor.dtype.startsWith('complex')) return null
  return tensor.data.map((value) =>
    tensor.dtype === 'bool' ? (wireNumber(value) ? 'True' : 'False') : formatNumber(wireNumber(value)),
  )
}

/** The planes a tensor has, one under the other. */
export function blocksOf(shape: readonly number[]): number {
  return count(shape) === 0 ? 0 : shape.length > 2 ? count(shape.slice(0, -2)) : 1
}

/** The block a cell stands in. */
export function blockOf(shape: readonly number[], cell: number): number {
  return shape.length > 2 ? Math.floor(cell / count(shape.slice(-2))) : 0
}

/** The tensor's grid, with numbers where they fit into `room`; of many blocks only those asked for. */
export function gridOf(tensor: Tensor, room: number, drawn?: readonly number[]): Grid {
  const { shape } = tensor
  const all = count(shape)
  const last = shape[shape.length - 1] ?? 1
  const broken = shape.length === 1 && last > LONGEST_ROW
  const columns = broken ? LONGEST_ROW : last
  const rows = broken ? Math.ceil(last / LONGEST_ROW) : (shape[shape.length - 2] ?? 1)
  const blocks = drawn ?? Array.from({ length: blocksOf(shape) }, (_, block) => block)
  const texts = textsOf(tensor)
  const widest = Math.max(LEAST_CELL, ...(texts ?? []).map((text) => Math.ceil(textWidth(text, CELL_TEXT)) + 8))
  const numbered = texts !== null && widest * columns <= room
  const square = Math.max(SMALLEST, Math.min(SQUARE, room / Math.max(1, columns)))
  return {
    x: 0,
    y: 0,
    cell: numbered ? { w: widest, h: CELL_HEIGHT } : { w: square, h: square },
    columns,
    rows,
    blocks,
    count: all,
    texts: numbered ? texts : null,
    labels:
      blocksOf(shape) > 1 ? blocks.map((block) => `[${positions(shape.slice(0, -2), block).join(', ')}]`) : [],
  }
}

function blockHeight(grid: Grid): number {
  return grid.rows * grid.cell.h + (grid.labels.length > 0 ? BLOCK_LABEL : 0)
}

export function sizeOf(grid: Grid): { w: number; h: number } {
  return { w: grid.columns * grid.cell.w, h: grid.blocks.length * blockHeight(grid) }
}

/** The blocks' own cells, in the order they are drawn. */
export function cellsOf(grid: Grid): number[] {
  const size = grid.columns * grid.rows
  return grid.blocks
    .flatMap((block) => Array.from({ length: size }, (_, at) => block * size + at))
    .filter((cell) => cell < grid.count)
}

/** Top left corner of a cell; null where its block is not drawn. */
export function cornerOf(grid: Grid, cell: number): [x: number, y: number] | null {
  const size = grid.columns * grid.rows
  const block = grid.blocks.indexOf(Math.floor(cell / size))
  if (block < 0) return null
  const within = cell % size
  const label = grid.labels.length > 0 ? BLOCK_LABEL : 0
  return [
    grid.x + (within % grid.columns) * grid.cell.w,
    grid.y + block * blockHeight(grid) + label + Math.floor(within / grid.columns) * grid.cell.h,
  ]
}

/** The cell under a point, if there is one. */
export function cellAt(grid: Grid, x: number, y: number): number | null {
  const column = Math.floor((x - grid.x) / grid.cell.w)
  const block = Math.floor((y - grid.y) / blockHeight(grid))
  const label = grid.labels.length > 0 ? BLOCK_LABEL : 0
  const row = Math.floor((y - grid.y - block * blockHeight(grid) - label) / grid.cell.h)
  const number = grid.blocks[block]
  if (column < 0 || column >= grid.columns || number === undefined || row < 0 || row >= grid.rows) return null
  const cell = (number * grid.rows + row) * grid.columns + column
  return cell < grid.count ? cell : null
}

/** One path around all of these cells. */
export function outlines(grid: Grid, cells: Iterable<number>): string {
  const { w, h } = grid.cell
  let path = ''
  for (const cell of cells) {
    const corner = cornerOf(grid, cell)
    if (!corner) continue
    const [x, y] = corner
    path += `M${x} ${y}h${w}v${h}h${-w}z`
  }
  return path
}

/** The cells of an input that some cell of a result came from. */
export function cellsRead({ terms }: Origins, input: number): Set<number> {
  const read = new Set<number>()
  for (const source of terms.flat())
    if (source.input === input)
      for (let made = 0; made < source.size; made++) if (source.of(made) >= 0) read.add(source.of(made))
  return read
}

/** A cell of a result beside the cell of an input it came from. */
export interface Pair {
  source: Source
  made: number
  read: number
}

/** The pairs of one cell of a result. */
export function pairsOf({ terms }: Origins, output: number, made: number): Pair[] {
  return terms.flatMap((term) => pairsIn(term, output, made))
}

/** What one term takes for a cell of a result. */
export function pairsIn(term: Term, output: number, made: number): Pair[] {
  return term.flatMap((source) => {
    const read = source.output === output && made < source.size ? source.of(made) : -1
    return read >= 0 ? [{ source, made, read }] : []
  })
}

/** The cells of results that one cell of an input went into. */
export function usesOf({ terms }: Origins, input: number, read: number): Pair[] {
  const found: Pair[] = []
  for (const source of terms.flat())
    if (source.input === input)
      for (let made = 0; made < source.size; made++) if (source.of(made) === read) found.push({ source, made, read })
  return found
}

/** The axis an op was told, counted from the front; null when it was told none. */
export function axisOf(op: Op, axes: number): number | null {
  const positions: Readonly<Record<string, number>> = { topk: 2, kthvalue: 2, take_along_dim: 2 }
  const last = new Set(['sort', 'argsort', 'topk', 'kthvalue', 'mode'])
  const text = argumentOf(op, 'dim', positions[op.name] ?? 1)?.text
  const number = text != null && /^-?\d+$/.test(text) ? Number(text) : last.has(op.name) ? -1 : null
  return number === null ? null : (number + axes) % Math.max(1, axes)
}

/** Names to write a cell's formula with. */
export interface Names {
  made: string
  read: string
  index: string
}

export interface Shapes {
  made: readonly number[]
  read: readonly number[]
}

const LETTERS = ['i', 'j', 'k', 'l', 'm', 'n']

/** `z[i][j] = x[i][index[i][j]]`: where a result's cells come from, in letters; null without an index tensor. */
export function rule(op: Op, names: Names, shapes: Shapes): string | null {
  const axis = axisOf(op, shapes.read.length)
  if (SCATTERS.has(op.name)) return scattered(names, LETTERS.slice(0, shapes.read.length), axis)
  return picked(op, names, LETTERS.slice(0, shapes.made.length), axis)
}

/** The same for one cell, with what the index holds there and what was found: `z[0][1] = x[0][index[0][1]] = x[0][2] =
 *  2`. */
export function instance(op: Op, names: Names, shapes: Shapes, pair: Pair, value: string): string {
  const made = positions(shapes.made, pair.made)
  const read = positions(shapes.read, pair.read)
  const found = `${names.read}${brackets(read)}${value === '' ? '' : ` = ${value}`}`
  if (pair.source.position) return positioned(op, names, shapes, made, read, found)
  if (SCATTERS.has(op.name)) {
    const to = scattered(names, read, axisOf(op, shapes.read.length))
    return to === null
      ? `${names.made}${brackets(made)} = ${found}`
      : `${to.split(' = ')[0]} = ${names.made}${brackets(made)} = ${found}`
  }
  const by = picked(op, names, made, axisOf(op, shapes.read.length))
  if (by === null) {
    const cell = `${names.made}${brackets(made)} = `
    return found.startsWith(cell) ? found : cell + found // a result without a name is called by its code, `x[1]`
  }
  return `${by} = ${op.name === 'take' ? `${names.read}.view(-1)[${pair.read}] = ` : ''}${found}`
}

const SCATTERS = new Set(['scatter', 'scatter_'])

/** Where a cell of the source goes. */
function scattered(names: Names, at: readonly (number | string)[], axis: number | null): string | null {
  if (axis === null) return null
  return `${names.made}${brackets(at.map((number, along) => (along === axis ? `${names.index}${brackets(at)}` : number)))} = ${names.read}${brackets(at)}`
}

function picked(op: Op, names: Names, at: readonly (number | string)[], axis: number | null): string | null {
  const made = `${names.made}${brackets(at)} = `
  switch (op.name) {
    case 'gather':
    case 'take_along_dim':
      if (axis === null) return null
      return `${made}${names.read}${brackets(at.map((number, along) => (along === axis ? `${names.index}${brackets(at)}` : number)))}`
    case 'index_select':
      if (axis === null) return null
      return `${made}${names.read}${brackets(at.map((number, along) => (along === axis ? `${names.index}[${number}]` : number)))}`
    case 'embedding':
      return `${made}${names.read}[${names.index}${brackets(at.slice(0, -1))}]${brackets(at.slice(-1))}`
    case 'take':
      return `${made}${names.read}.view(-1)[${names.index}${brackets(at)}]`
    default:
      return null
  }
}

function positioned(
  op: Op, names: Names, shapes: Shapes, made: readonly number[], read: readonly number[], found: string,
): string {
  const several = shapes.made.length === 2 && (op.name === 'nonzero' || op.name === 'argwhere')
  if (several) return `${names.made}${brackets(made.slice(0, 1))} = [${read.join(', ')}]: ${found}`
  const axis = axisOf(op, shapes.read.length)
  const said = axis === null || op.name === 'nonzero' || op.name === 'where' ? '' : ` = ${read[axis]}`
  return `${names.made}${brackets(made)}${said}: ${found}`
}
