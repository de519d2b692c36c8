import { expect, test } from 'vitest'
import type { Op, Tensor } from '../../api/types'
import { originsOf } from '../ops/origins'
import { words } from '../words/bundled'
import { CellsScene } from './cells-scene'

test('a formula has the names that the program has, code in brackets where a place stands behind it', () => {
  const tensor = (shape: number[], data: number[]): Tensor =>
    ({ id: 't', role: 'result', dtype: 'float32', shape, data })
  const op: Op = {
    id: 'o1', name: 'getitem', function: 'Tensor.__getitem__', arguments: [{ tensor: 't1' }, { text: '1' }],
    inputs: ['t1'], outputs: ['t2'], nodes: [], reads: [{ input: 0, cells: [1] }],
  }
  const formulas = (name: string): readonly string[] => {
    const [row, picked] = [tensor([2], [3, 5]), tensor([], [5])]
    const origins = originsOf(op, (id) => (id === 't1' ? row : picked))!
    const subject = { op, inputs: [{ tensor: row, name }], outputs: [{ tensor: picked, name: `${name}[1]` }], origins }
    return new CellsScene(subject, words('en'), 300, null).formulas
  }
  expect(formulas('packed[1]')).toEqual(['packed[1][1] = 5'])
  expect(formulas('x * 2')).toEqual(['x * 2[1] = (x * 2)[1] = 5'])
})

test('of a result without cells none is told of, whatever is pointed at', () => {
  const tensor = (shape: number[], data: number[]): Tensor =>
    ({ id: 't', role: 'result', dtype: 'float32', shape, data })
  const op: Op = {
    id: 'o1', name: 'mul', function: 'Tensor.mul', arguments: [{ tensor: 't1' }, { tensor: 't2' }],
    inputs: ['t1', 't2'], outputs: ['t3'], nodes: [], broadcast: [{ input: 1, axes: [0, 1] }],
  }
  const [empty, factor] = [tensor([0, 3], []), tensor([], [4])]
  const origins = originsOf(op, (id) => (id === 't2' ? factor : empty))!
  const subject = {
    op, inputs: [{ tensor: empty, name: 'e' }, { tensor: factor, name: 's' }],
    outputs: [{ tensor: empty, name: 'e * s' }], origins,
  }
  for (const pointed of [null, { side: 'output', at: 0, cell: 0 } as const]) {
    const { active, pairs, formulas } = new CellsScene(subject, words('en'), 300, pointed)
    expect([active, pairs, formulas]).toEqual([null, [], []])
  }
})

test.each([['conv2d', 'conv', 3], ['conv_transpose2d', 'transpose', 0]] as const)(
  'cells of padding are counted in the window of %s', (name, kind, n) => {
    const tensor = (shape: number[]): Tensor => ({ id: 't', role: 'result', dtype: 'float32', shape, data: null })
    const taken = tensor([1, 1, 2, 2])
    const [kernel, made] = [tensor([1, 1, 2, 2]), tensor(kind === 'conv' ? [1, 1, 3, 3] : [1, 1, 4, 4])]
    const axis = kind === 'conv'
      ? { size: 2, kernel: 2, stride: 1, padding: 1, out: 3 }
      : { size: 2, kernel: 2, stride: 2, padding: 0, out: 4 }
    const op: Op = {
      id: 'o1', name, function: name, arguments: [{ tensor: 't1' }, { tensor: 't2' }], inputs: ['t1', 't2'],
      outputs: ['t3'], nodes: [], window: { kind, axes: [axis, axis] },
    }
    const origins = originsOf(op, (id) => (id === 't1' ? taken : id === 't2' ? kernel : made))!
    const subject = {
      op, inputs: [{ tensor: taken, name: 'x' }, { tensor: kernel, name: 'k' }],
      outputs: [{ tensor: made, name: 'y' }], origins,
    }
    const scene = new CellsScene(subject, words('en'), 300, { side: 'output', at: 0, cell: 0 })
    expect(scene.padded.n).toBe(n)
    expect(scene.formulas).toEqual([]) // the numbers were not kept
  },
)
