import { expect, test } from 'vitest'
import { firstSentence, type Piece } from './lessons'

const text = (text: string): Piece => ({ kind: 'text', text })
const first = (...pieces: Piece[]): string => firstSentence([pieces, [text('More.')]]).map(({ text }) => text).join('')

test('a first sentence ends where a sentence ends, not in a number', () => {
  expect(first(text('At x = 1.5 it is 2. Then more.'))).toBe('At x = 1.5 it is 2.')
  expect(first(text('先算 1.5。再加。'))).toBe('先算 1.5。')
  expect(first(text('no end'))).toBe('no end')
})

test('it goes on over code and formulas', () => {
  expect(first({ kind: 'code', text: 'x.grad' }, text(' is 7. It was 0.'))).toBe('x.grad is 7.')
})
