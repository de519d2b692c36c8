import { expect, test } from 'vitest'
import type { Jacobian } from '../../api/types'
import { pictureOf, placeOf, product, rowsOf } from './jacobian'

// y = [x0 * x1, x0 ** 2, 3] at x = [2, 5]: rows [5, 2], [4, 0], [0, 0].
const jacobian: Jacobian = { pass: 'p1', rows: 3, columns: 2, values: [5, 2, 4, 0, 0, 0] }

test('rows of outputs, columns of inputs', () => {
  expect(rowsOf(jacobian)).toEqual([[5, 2], [4, 0], [0, 0]])
})

test('backward multiplies from the left', () => {
  expect(product([1, 10, 100], jacobian)).toEqual([45, 2])
  expect(product([1, 10], jacobian)).toBeNull()
  expect(product(null, jacobian)).toBeNull()
})

test('elements are named by their place', () => {
  expect(placeOf(0, [])).toBe('')
  expect(placeOf(4, [5])).toBe('[4]')
  expect(placeOf(5, [2, 3])).toBe('[1, 2]')
  expect(placeOf(0, [0])).toBe('[0]')
})

test('a picture is scaled to its largest value; non-finite cells are marked', () => {
  const cells = pictureOf({ ...jacobian, values: [5, 'nan', -2.5, 0, 0, 0] })
  expect([...cells.values]).toEqual([1, NaN, -0.5, 0, 0, 0])
  expect([...pictureOf({ ...jacobian, values: [0, 0, 0, 0, 0, 0] }).values]).toEqual([0, 0, 0, 0, 0, 0])
})
