import { expect, test } from 'vitest'
import table from '../../../engine/rules/derivatives.txt?raw'
import { isOfTable } from './rules'

test('formulas are asked for of all types that the table has, and of no others', () => {
  const types = table.trim().split('\n').map((row) => row.split('\t')[0]!)
  expect(types.filter((type) => !isOfTable({ type }))).toEqual([])
  expect([{ type: 'CopySlices' }, { type: 'Mine2Backward', custom: true }].some(isOfTable)).toBe(false)
})
