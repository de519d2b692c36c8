import { expect, test } from 'vitest'
import type { Pass } from '../../api/types'
import { words } from '../words/bundled'
import { agreeing, rootName } from './choices'

const [p1, p2] = [['p1'], ['p2']]
const roots = [{ id: 'n1', name: 'y', passes: p1 }, { id: 'n4', name: 'y', passes: p2 }, { id: 'n7', name: 'z' }]

test('a root and a pass that starts elsewhere are not chosen together', () => {
  const before = { root: 'n4', pass: 'p2' }
  expect(agreeing(roots, before, { root: 'n1' })).toEqual({ root: 'n1', pass: null })
  expect(agreeing(roots, before, { pass: 'p1' })).toEqual({ pass: 'p1', root: null })
  expect(agreeing(roots, { root: null, pass: 'p2' }, { root: 'n4' })).toEqual({ root: 'n4' })
})

test('roots of one name are told apart by their passes', () => {
  const passes = [{ id: 'p1', kind: 'backward' }, { id: 'p2', kind: 'grad' }] as Pass[]
  const names = roots.map((root) => rootName(root, roots, passes, words('en')))
  expect(names).toEqual(['y · backward() #1', 'y · autograd.grad() #2', 'z'])
})
