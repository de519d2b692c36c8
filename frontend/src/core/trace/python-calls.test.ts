import { describe, expect, it } from 'vitest'
import type { PythonCall } from '../../api/types'
import { happenings, heldAt, lineAt, rowsOf, stackAt } from './python-calls'

const outer: PythonCall = {
  id: 'f1',
  function: 'V.__sub__',
  line: 2,
  at: 1,
  left: 12,
  arguments: [{ target: 'self', text: 'V #1' }],
  returned: 'V #2',
  statements: [
    { line: 3, at: 2, done: 9, assigned: [{ target: 'out', text: '3' }] }, { line: 4, at: 10, done: 11 },
  ],
}
const inner: PythonCall = {
  id: 'f2', function: 'Sub.forward', line: 8, at: 3, left: 8, parent: 'f1', returned: '3',
  statements: [
    { line: 9, at: 4, done: 5, assigned: [{ target: 'self.a', text: '5' }] },
    { line: 10, at: 6, done: 7, assigned: [{ target: 'self.a', text: '6' }] },
  ],
}
const calls = [outer, inner]

describe('happenings', () => {
  it('tells all in order, ends without assignments left out', () => {
    expect(happenings(calls).map((one) => `${one.kind} ${one.call.id}`)).toEqual([
      'enter f1',
      'begin f1',
      'enter f2',
      'begin f2',
      'assign f2',
      'begin f2',
      'assign f2',
      'leave f2',
      'assign f1',
      'begin f1',
      'leave f1',
    ])
  })

  it('has no end of a call that was never left', () => {
    expect(happenings([{ ...inner, left: 0 }]).some((one) => one.kind === 'leave')).toBe(false)
  })
})

describe('a moment', () => {
  it('has a stack, a line and values', () => {
    expect(rowsOf(calls).map((row) => row.depth)).toEqual([0, 1])
    expect(stackAt(calls, 5).map((call) => call.id)).toEqual(['f1', 'f2'])
    expect(stackAt(calls, 9).map((call) => call.id)).toEqual(['f1'])
    expect(lineAt(inner, 3)).toBe(8)
    expect(lineAt(inner, 6)).toBe(10)
    expect(heldAt(inner, 7)).toEqual([{ target: 'self.a', text: '6', line: 10, fresh: true }])
    expect(heldAt(outer, 5)).toEqual([{ target: 'self', text: 'V #1', line: 0, fresh: false }])
  })

  it('gives an unknown parent’s call a place', () => {
    expect(rowsOf([{ ...inner, parent: 'f9' }]).map((row) => row.depth)).toEqual([0])
  })
})
