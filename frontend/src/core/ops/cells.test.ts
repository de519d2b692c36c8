import { describe, expect, it } from 'vitest'
import type { Op, Tensor } from '../../api/types'
import {
  axisOf, cellAt, cellsOf, cellsRead, cornerOf, gridOf, instance, outlines, pairsOf, rule, sizeOf, usesOf, type Pair,
} from './cells'
import { originsOf, summedOrigins, type Origins } from './origins'
import { brackets, positions, stretchedFrom } from './places'

function tensor(shape: number[], data?: number[]): Tensor {
  return { id: 't1', shape, dtype: 'float32', role: 'result', ...(data ? { data } : {}) }
}

function op(name: string, texts: (string | null)[], reads: Op['reads']): Op {
  return {
    id: 'o1', name, function: `torch.${name}`,
    arguments: texts.map((text) => (text === null ? { tensor: 't1' } : { text })), inputs: ['t1', 't2'],
    outputs: ['t3'], nodes: [], reads,
  }
}

const origins = (of: Op): Origins => originsOf(of, () => tensor([2, 2]))!
const made = (of: Op, output: number, cell: number): Pair[] => pairsOf(origins(of), output, cell)

const numbers = (n: number): number[] => Array.from({ length: n }, (_, at) => at)

describe('a grid of cells', () => {
  it('finds again the cell that stands at a place', () => {
    for (const shape of [[], [5], [3, 4], [2, 3, 4], [2, 2, 3, 1], [70], [64, 64], [1, 300]]) {
      const grid = { ...gridOf(tensor(shape), 300), x: 7, y: 11 }
      for (let cell = 0; cell < grid.count; cell++) {
        const [x, y] = cornerOf(grid, cell)!
        expect(cellAt(grid, x + grid.cell.w / 2, y + grid.cell.h / 2)).toBe(cell)
      }
      const { w, h } = sizeOf(grid)
      expect(cellAt(grid, 7 + w + 1, 12)).toBeNull()
      expect(cellAt(grid, 8, 11 + h + 1)).toBeNull()
    }
  })

  it('has no cell in what is empty, beside a short last row, or on the name of a block', () => {
    expect(cellAt(gridOf(tensor([0]), 300), 1, 1)).toBeNull()
    expect(gridOf(tensor([0, 3]), 300).count).toBe(0)
    const broken = gridOf(tensor([70]), 300)
    expect(cellAt(broken, 20 * broken.cell.w, 2.5 * broken.cell.h)).toBeNull()
    expect(cellAt(gridOf(tensor([2, 2, 2]), 300), 5, 5)).toBeNull()
  })

  it('writes numbers only where they fit', () => {
    expect(gridOf(tensor([3, 4], numbers(12)), 300).texts).toHaveLength(12)
    expect(gridOf(tensor([3, 4], numbers(12)), 80).texts).toBeNull()
    expect(gridOf(tensor([64, 64]), 300).texts).toBeNull()
  })

  it('of many planes draws those asked for', () => {
    const grid = gridOf(tensor([5, 2, 3]), 300, [1, 4])
    expect(cellsOf(grid)).toEqual([6, 7, 8, 9, 10, 11, 24, 25, 26, 27, 28, 29])
    expect(cornerOf(grid, 12)).toBeNull()
    expect(grid.labels).toEqual(['[1]', '[4]'])
    for (const cell of cellsOf(grid)) {
      const [x, y] = cornerOf(grid, cell)!
      expect(cellAt(grid, x + 1, y + 1)).toBe(cell)
    }
  })

  it('goes around cells one after the other', () => {
    expect(outlines({ ...gridOf(tensor([2, 2], numbers(4)), 300) }, [0, 3])).toBe('M0 0h24v20h-24zM24 20h24v20h-24z')
  })
})

describe('places', () => {
  it('counts in row-major order', () => {
    expect(positions([2, 3, 4], 17)).toEqual([1, 1, 1])
    expect(positions([], 0)).toEqual([])
    expect(brackets([1, 0])).toBe('[1][0]')
  })

  it('are repeated by broadcasting along axes of one cell and in front', () => {
    expect(numbers(6).map((cell) => stretchedFrom([3], [2, 3], cell))).toEqual([0, 1, 2, 0, 1, 2])
    expect(numbers(6).map((cell) => stretchedFrom([2, 1], [2, 3], cell))).toEqual([0, 0, 0, 1, 1, 1])
    expect(numbers(6).map((cell) => stretchedFrom([], [2, 3], cell))).toEqual([0, 0, 0, 0, 0, 0])
  })
})

it('a mean over windows tells a divisor that was given', () => {
  const axis = { size: 2, kernel: 2, stride: 1, padding: 0, out: 1 }
  const pool = (...given: string[]): Origins =>
    origins({ ...op('avg_pool2d', [null, ...given], undefined), window: { kind: 'pool', axes: [axis, axis] } })
  expect(pool('2', 'None', '0', 'False', 'True', '3').divisor).toBe(3)
  expect(pool('2').divisor).toBeNull()
})

describe('cells that were read', () => {
  const gather = op('gather', [null, '1', null], [{ input: 0, cells: [0, 2, 7, 5] }])
  const shapes = { made: [2, 2], read: [3, 4] }
  const names = { made: 'z', read: 'x', index: 'index' }

  it('are told of both sides', () => {
    expect(made(gather, 0, 2)).toMatchObject([{ made: 2, read: 7 }])
    expect(usesOf(origins(gather), 0, 7)).toMatchObject([{ made: 2, read: 7 }])
    expect(usesOf(origins(gather), 0, 1)).toEqual([])
    expect(usesOf(origins(gather), 1, 7)).toEqual([])
    expect([...cellsRead(origins(gather), 0)]).toEqual([0, 2, 7, 5])
    const one = op('where', [null, null, null], [{ input: 1, cells: [-1, 1] }])
    expect(made(one, 0, 0)).toEqual([])
    expect([...cellsRead(origins(one), 1)]).toEqual([1])
  })

  it('of gather have their formula written out', () => {
    expect(rule(gather, names, shapes)).toBe('z[i][j] = x[i][index[i][j]]')
    expect(instance(gather, names, shapes, made(gather, 0, 1)[0]!, '2')).toBe(
      'z[0][1] = x[0][index[0][1]] = x[0][2] = 2',
    )
    expect(rule(op('gather', [null, '-2', null], []), names, shapes)).toBe('z[i][j] = x[index[i][j]][j]')
  })

  it('of other ops too', () => {
    expect(rule(op('index_select', [null, '0', null], []), names, shapes)).toBe('z[i][j] = x[index[i]][j]')
    expect(rule(op('take', [null, null], []), names, { made: [2], read: [3, 4] })).toBe('z[i] = x.view(-1)[index[i]]')
    expect(rule(op('embedding', [null, null], []), names, { made: [2, 3], read: [5, 3] })).toBe(
      'z[i][j] = x[index[i]][j]',
    )
    expect(rule(op('getitem', [null, '1'], []), names, shapes)).toBeNull()
    const take = op('take', [null, null], [{ input: 0, cells: [11] }])
    expect(instance(take, names, { made: [1], read: [3, 4] }, made(take, 0, 0)[0]!, '9')).toBe(
      'z[0] = x.view(-1)[index[0]] = x.view(-1)[11] = x[2][3] = 9',
    )
    const item = op('getitem', [null, '1'], [{ input: 0, cells: [4] }])
    expect(instance(item, names, { made: [], read: [3, 4] }, made(item, 0, 0)[0]!, '4')).toBe(
      'z = x[1][0] = 4',
    )
  })

  it('of scatter say where each number goes', () => {
    const scatter = op('scatter_', [null, '1', null, null], [{ input: 2, cells: [0, -1, -1, 3] }])
    const sizes = { made: [2, 2], read: [2, 2] }
    expect(rule(scatter, names, sizes)).toBe('z[i][index[i][j]] = x[i][j]')
    expect(instance(scatter, names, sizes, made(scatter, 0, 3)[0]!, '7')).toBe(
      'z[1][index[1][1]] = z[1][1] = x[1][1] = 7',
    )
  })

  it('that are only pointed at say where', () => {
    const nonzero = op('nonzero', [null], [{ input: 0, cells: [9, 9], position: true }])
    expect(instance(nonzero, names, { made: [1, 2], read: [3, 4] }, made(nonzero, 0, 1)[0]!, '5')).toBe(
      'z[0] = [2, 1]: x[2][1] = 5',
    )
    const max = op('max', [null, '1'], [{ input: 0, cells: [3, 7, 11], output: 1, position: true }])
    expect(instance(max, names, { made: [3], read: [3, 4] }, made(max, 1, 1)[0]!, '7')).toBe(
      'z[1] = 3: x[1][3] = 7',
    )
    expect(made(max, 0, 1)).toEqual([])
  })

  it('lie along the axis the op was told, or the last', () => {
    expect(axisOf(op('topk', [null, '2'], []), 3)).toBe(2)
    expect(axisOf(op('topk', [null, '2', '0'], []), 3)).toBe(0)
    expect(axisOf(op('max', [null, '-1'], []), 2)).toBe(1)
    expect(axisOf(op('argmax', [null], []), 2)).toBeNull()
    expect(axisOf({ ...op('max', [null], []), arguments: [{ tensor: 't1' }, { name: 'dim', text: '0' }] }, 2)).toBe(0)
  })
})

it('a gradient summed over axes of one element each has nothing that is added', () => {
  const visit = (rows: number) => ({
    node: 'n', entered: [], left: ['t'], reduced: [{ slot: 0, shape: [rows, 2], axes: [0] }],
  })
  expect(summedOrigins(visit(1), 0, tensor([2]))).toBeNull()
  expect(summedOrigins(visit(3), 0, tensor([2]))!.terms).toHaveLength(3)
})
