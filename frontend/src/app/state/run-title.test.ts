import { expect, test } from 'vitest'
import { load } from '../../core/fixtures/load'
import { words } from '../../core/words/bundled'
import { recentTitle, runTitle } from './run-title'

test('a run that only lacks a line of the one on screen is called by that, whoever made it', () => {
  const { trace } = load('accumulation')
  const of = (code: string) => ({ ...trace, program: { ...trace.program, code } })
  const here = of('import torch\nw = torch.ones(1)\nw.zero_()')
  const title = (code: string): string[] => (['en', 'zh'] as const).map((lang) =>
    runTitle({ recent: [], trace: here }, [], lang, 'r1', of(code), words(lang)))
  expect(title('import torch\nw = torch.ones(1)')).toEqual(['without w.zero_()', '没有 w.zero_()'])
  expect(title('import torch\nw = torch.ones(1)\npass')[0]).toBe('without w.zero_()')
  expect(title('import torch\nw = torch.zeros(1)')).toEqual(['w = torch.zeros(1)', 'w = torch.zeros(1)'])
})

test('what the page made a run for is said in the language on show', () => {
  const line = { key: 'whatif.gradient_doubled', name: 'x * x' }
  const title = (lang: 'en' | 'zh') =>
    recentTitle({ id: 'r1', at: 0, lesson: null, status: 'ok', line }, lang, words(lang)).replace(/^.* · /, '')
  expect([title('en'), title('zh')]).toEqual(['x * x received twice its gradient', 'x * x 收到的梯度变成两倍'])
})
