import { expect, test } from 'vitest'
import type { Box, Group } from '../../api/types'
import { words } from '../../core/words/bundled'
import { countOf, saidOf } from './group-said'

function said(group: Partial<Group>): string {
  const whole: Group = { id: 'g1', title: '', type: '', kind: 'loop', size: 6, ...group }
  return saidOf(whole, whole.title, '', '6 nodes', words('en'))
}

test('what repeats is told as what it is', () => {
  expect(said({ title: 'for layer in net', repeat: 3 })).toBe('The loop `for layer in net`, run 3 times.')
  expect(said({ title: '2', type: 'for layer' })).toBe('Turn 2 of the loop `for layer`: 6 nodes.')
  expect(said({ title: '4–57', repeat: 54 })).toBe('Turns 4–57 of the loop: 6 nodes.')
  expect(said({ title: 'Layer', repeat: 3 })).toBe('3 times `Layer`: 6 nodes.')
  expect(said({ title: 'net[0]', type: 'Layer' })).toBe('One call of `Layer`: 6 nodes.')
  expect(said({ title: '3' })).toBe('Run 3 of the same lines: 6 nodes.')
  expect(said({ title: 'blocks', type: 'Block', repeat: 12 })).toBe('12 times `Block`: 6 nodes.')
  expect(said({ title: 'sum(xs)', kind: 'steps', repeat: 6 })).toBe(
    'One call of `sum(xs)`, which does the same 6 times: 6 nodes.',
  )
  expect(said({ title: '2', type: 'gru', kind: 'steps' })).toBe('Step 2 of one call: 6 nodes.')
  expect(said({ title: 'encode', kind: 'recursion' })).toBe('Calls of `encode`, which calls itself: 6 nodes.')
  expect(said({ title: 'out', type: 'Linear', kind: 'op', module: 'm1' })).toContain('out')
})

test('a group without a node counts its operations', () => {
  const group = (id: string, parent: string | null): Group => ({ id, parent, title: id, type: '', kind: 'module' })
  const box = (id: string, group: string): Box => ({ id, group, kind: 'ghost', title: '', name: '', family: 'ghost' })
  const graph = { groups: [group('g1', null), group('g2', 'g1')], boxes: [box('o1', 'g1'), box('o2', 'g2')] }
  expect(countOf(graph.groups[0]!, graph, words('en'))).toBe('2 operations without a node')
  expect(countOf({ ...graph.groups[0]!, size: 1 }, graph, words('en'))).toBe('1 node')
})
