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
