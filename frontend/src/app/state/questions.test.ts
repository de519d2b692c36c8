// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest'
import type { Question, Trace } from '../../api/types'
import { load } from '../../core/fixtures/load'
import { withoutNumbers } from '../../core/trace/questions'
import { Questions } from './questions.svelte'

const asked = { kind: 'value', text: 'y', step: 1, span: { line: 2 } } as unknown as Question

function of(code: string): Trace {
  return { ...load('accumulation').trace, program: { code }, questions: [asked] }
}

afterEach(() => localStorage.clear())

test.each([
  ['x = 3.0', 'x = -2.5e-1', true],
  ['x = 3', 'x = .5', true],
  ['x = 3', 'y = 3 + 4', false],
])('what is shown whole is so with other numbers too: %s, %s', (code, other, isWhole) => {
  const questions = new Questions()
  questions.resting = withoutNumbers(code)
  expect(questions.openOf(of(code))).toBeUndefined()
  expect(questions.openOf(of(other)) === undefined).toBe(isWhole)
})

test('what was answered is asked anew with other numbers', () => {
  const questions = new Questions()
  questions.close(of('x = 3'), asked, 'found')
  expect(questions.openOf(of('x = 4'))).toBe(asked)
})
