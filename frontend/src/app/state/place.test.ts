import { expect, test } from 'vitest'
import type { RunLimits } from '../../api/types'
import { words } from '../../core/words/bundled'
import type { Words } from '../../core/words/sentences'
import { runText } from './place'

test('once as much is recorded as may be, the page says that the program goes on and when it is stopped', () => {
  const place = { run: 'r', state: 'running', ahead: 0, expected_s: 0, elapsed_s: 5.2, line: 6, ops: 20000 } as const
  const told = (ops: number, elapsed_s = 5.2) =>
    runText({ ...place, elapsed_s }, words('en') as unknown as Words, { ops, wall_s: 10 } as RunLimits)
  expect(told(30000)).toBe('Running line 6 · 5 s · 20000 ops so far')
  expect(told(20000)).toBe(
    'Recording is full at 20000 ops · the program goes on, at line 6, 5 s, and is stopped at 10 s',
  )
  expect(told(20000, 26)).toBe(
    'Recording is full at 20000 ops · the program goes on, at line 6, 10 s, and is stopped at 10 s, without its waits for a processor',
  )
})
