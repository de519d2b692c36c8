import { expect, test } from 'vitest'
import { asWritten, signBetween } from './equation'

test('equal is only what a reader would work out', () => {
  expect(signBetween(0.1 + 0.2, asWritten(0.3), 1e-3)).toBe('=')
  expect(signBetween(2.458e-5 + 2, asWritten(2 + 2.458e-5), 1e-3)).toBe('≈')
  expect(signBetween(0.3333 * 2, asWritten(2 / 3), 1e-3)).toBe('≈')
  expect(signBetween(2, 3, 1e-3)).toBeNull()
})

test('of what is not finite only the same is equal', () => {
  expect(signBetween(Infinity, asWritten(Infinity), Infinity)).toBe('=')
  expect(signBetween(NaN, NaN, NaN)).toBe('=')
  expect(signBetween(Infinity, asWritten(-Infinity), 1e-3)).toBeNull()
  expect(signBetween(Infinity, 1, Infinity)).toBeNull()
  expect(signBetween(NaN, 1, 1e-3)).toBeNull()
})
