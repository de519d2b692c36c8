// Tensors as grids of cells, and which cell of an op's input each cell of its result came from.

import type { Op, Reads, Tensor } from '../../api/types'
import { formatNumber, textWidth, wireNumber } from '../words/format'

/** Cells of one tensor on a plane: the last axis across, the one before it down, the others as blocks under each
 *  other. */
export interface Grid {
  x: number
  y: number
  readonly cell: { readonly w: number; readonly h: number }
  readonly columns: number
  readonly rows: number
  readonly blocks: number
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

export function count(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1)
}

/** Where a cell is, axis by axis. */
export function place(shape: readonly number[], cell: number): number[] {
  const at: number[] = []
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const size = shape[axis]!
    at.unshift(cell % size)
    cell = Math.floor(cell / size)
  }
  return at
}

/** `[1][0]`, as one writes it; nothing for a scalar. */
export function brackets(at: readonly (number | string)[]): string {
  return at.map((number) => `[${number}]`).join('')
}

export function textsOf(tensor: Tensor): string[] | null {
  if (!tensor.data || tensor.dtype.startsWith('complex')) return null
  return tensor.data.map((value) =>
    tensor.dtype === 'bool' ? (wireNumber(value) ? 'True' : 'False') : formatNumber(wireNumber(value)),
  )
}

/** The tensor's grid, with numbers where they fit into `room`. */
export function gridOf(tensor: Tensor, room: number): Grid {
  const { shape } = tensor
  const all = count(shape)
  const last = shape[shape.length - 1] ?? 1
  const broken = shape.length === 1 && last > LONGEST_ROW
  const columns = broken ? LONGEST_ROW : last
  const rows = broken ? Math.ceil(last / LONGEST_ROW) : (shape[shape.length - 2] ?? 1)
  const blocks = shape.length > 2 ? count(shape.slice(0, -2)) : 1
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
    blocks: all === 0 ? 0 : blocks,
    count: all,
    texts: numbered ? texts : null,
    labels:
      blocks > 1
        ? Array.from({ length: blocks }, (_, block) => `[${place(shape.slice(0, -2), block).join(', ')}]`)
        : [],
  }
}

function blockHeight(grid: Grid): number {
  return grid.rows * grid.cell.h + (grid.labels.length > 0 ? BLOCK_LABEL : 0)
}

export function sizeOf(grid: Grid): { w: number; h: number } {
  return { w: grid.columns * grid.cell.w, h: grid.blocks * blockHeight(grid) }
}

/** Top left corner of a cell. */
export function cornerOf(grid: Grid, cell: number): [x: number, y: number] {
  const size = grid.columns * grid.rows
  const block = Math.floor(cell / size)
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
  if (column < 0 || column >= grid.columns || block < 0 || block >= grid.blocks || row < 0 || row >= grid.rows)
    return null
  const cell = (block * grid.rows + row) * grid.columns + column
  return cell < grid.count ? cell : null
}

/** One path around all of these cells. */
export function outlines(grid: Grid, cells: Iterable<number>): string {
  const { w, h } = grid.cell
  let path = ''
  for (const cell of cells) {
    const [x, y] = cornerOf(grid, cell)
    path += `M${x} ${y}h${w}v${h}h${-w}z`
  }
  return path
}

/** The cells of an input that some cell of a result came from. */
export function cellsRead(op: Op, input: number): Set<number> {
  const read = new Set<number>()
  for (const reads of op.reads ?? [])
    if (reads.input === input) for (const cell of reads.cells) if (cell >= 0) read.add(cell)
  return read
}

/** A cell of a result beside the cell of an input it came from. */
export interface Pair {
  reads: Reads
  made: number
  read: number
}

/** The pairs of one cell: of a result, or of an input. */
export function pairsOf(op: Op, side: 'input' | 'output', at: number, cell: number): Pair[] {
  const found: Pair[] = []
  for (const reads of op.reads ?? []) {
    if (side === 'output') {
      const read = (reads.output ?? 0) === at ? reads.cells[cell] : undefined
      if (read !== undefined && read >= 0) found.push({ reads, made: cell, read })
    } else if (reads.input === at) {
      reads.cells.forEach((read, made) => {
        if (read === cell) found.push({ reads, made, read })
      })
    }
  }
  return found
}

/** The axis an op was told, counted from the front; null when it was told none. */
export function axisOf(op: Op, axes: number): number | null {
  const positions: Readonly<Record<string, number>> = { topk: 2, kthvalue: 2, take_along_dim: 2 }
  const last = new Set(['sort', 'argsort', 'topk', 'kthvalue', 'mode'])
  const given =
    op.arguments.find(({ name }) => name === 'dim') ?? op.arguments.filter(({ name }) => !name)[positions[op.name] ?? 1]
  const number = given?.text != null && /^-?\d+$/.test(given.text) ? Number(given.text) : last.has(op.name) ? -1 : null
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
  const made = place(shapes.made, pair.made)
  const read = place(shapes.read, pair.read)
  const found = `${names.read}${brackets(read)}${value === '' ? '' : ` = ${value}`}`
  if (pair.reads.position) return positioned(op, names, shapes, made, read, found)
  if (SCATTERS.has(op.name)) {
    const to = scattered(names, read, axisOf(op, shapes.read.length))
    return to === null
      ? `${names.made}${brackets(made)} = ${found}`
      : `${to.split(' = ')[0]} = ${names.made}${brackets(made)} = ${found}`
  }
  const by = picked(op, names, made, axisOf(op, shapes.read.length))
  if (by === null) return `${names.made}${brackets(made)} = ${found}`
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
