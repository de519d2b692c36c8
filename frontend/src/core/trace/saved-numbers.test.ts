import { expect, test } from 'vitest'
import type { Node } from '../../api/types'
import { numbersOf, signed } from './saved-numbers'

test('negative numbers have their sign again, whatever they are', () => {
  expect(signed('(18446744073709551614, 1)')).toBe('(-2, 1)')
  expect(signed('18446744073709551615')).toBe('-1')
  expect(signed('9223372036854775807')).toBe('9223372036854775807')
  const node = { saved: [{ field: 'dims', text: '(0, 18446744073709551613)' }] } as unknown as Node
  expect([numbersOf(node, 'dims'), numbersOf(node, 'dim')]).toEqual([[0, -3], undefined])
})
