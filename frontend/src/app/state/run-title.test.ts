import { expect, test } from 'vitest'
import { load } from '../../core/fixtures/load'
import { words } from '../../core/words/bundled'
import { runTitle } from './run-title'

test('a run that only lacks a line of the one on screen is called by that, whoever made it', () => {
  const { trace } = load('accumulation')
  const of = (code: string) => ({ ...trace, program: { ...trace.program, code } })
  const here = of('import torch\nw = torch.ones(1)\nw.zero_()')
  const title = (code: string): string[] => (['en', 'zh'] as const).map((lang) =>
    runTitle({ recent: [], trace: here }, [], lang, 'r1', of(code), words(lang)))
  expect(title('import torch\nw = torch.ones(1)')).toEqual(['without w.zero_()', '没有 w.zero_()'])
  expect(title('import torch\nw = torch.zeros(1)')).toEqual(['w = torch.zeros(1)', 'w = torch.zeros(1)'])
})
