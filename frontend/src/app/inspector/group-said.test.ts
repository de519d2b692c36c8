import { expect, test } from 'vitest'
import type { Group } from '../../api/types'
import { words } from '../../core/words/bundled'
import { saidOf } from './group-said'

function said(group: Partial<Group>): string {
  const whole: Group = { id: 'g1', title: '', type: '', kind: 'loop', size: 6, ...group }
  return saidOf(whole, whole.title, '', words('en'))
}

test('what repeats is told as what it is', () => {
  expect(said({ title: 'for layer in net', repeat: 3 })).toBe('The loop `for layer in net`, run 3 times.')
  expect(said({ title: '2', type: 'for layer' })).toBe('Turn 2 of the loop `for layer`: 6 nodes.')
  expect(said({ title: '4–57', repeat: 54 })).toBe('Turns 4–57 of the loop: 6 nodes.')
  expect(said({ title: 'Layer', repeat: 3 })).toBe('3 times Layer: 6 nodes.')
  expect(said({ title: 'net[0]', type: 'Layer' })).toBe('One call of Layer: 6 nodes.')
  expect(said({ title: '3' })).toBe('Run 3 of the same lines: 6 nodes.')
  expect(said({ title: 'blocks', type: 'Block', repeat: 12 })).toBe('12 times Block: 6 nodes.')
})
