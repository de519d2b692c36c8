// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import en from '../../../words/questions/en.json'
import zh from '../../../words/questions/zh.json'
import { load } from '../../core/fixtures/load'
import { askable } from '../../core/trace/questions'
import { wordsOf } from '../../core/words/sentences'
import { sheetOf } from './question-sheet'

const { trace } = load('accumulation')

test.each(['en', 'zh'] as const)('the questions come first and the answers on a page of their own (%s)', (lang) => {
  const sheet = sheetOf({ trace, title: 'Sums', written: [], lang, t: wordsOf(lang === 'zh' ? zh : en) })
  const at = sheet.findIndex(({ className }) => className === 'answers')
  const [before, after] = [sheet.slice(0, at), sheet.slice(at)].map((part) =>
    part.map(({ textContent }) => textContent).join('\n'),
  )
  const all = askable(trace)
  expect(all.length).toBeGreaterThan(1)
  expect(sheet[2]!.children.length).toBe(all.length)
  expect(after).toContain('w.grad = [5, −1]')
  expect(before).not.toContain('[5, −1]')
  expect(before).toContain(lang === 'zh' ? '第' : 'after line')
})

test('a lesson says its own words, and the reasons in the program stay unprinted', () => {
  const written = askable(trace).map((_, n) => ({ ask: `ask ${n}`, why: `why ${n}` }))
  const told = { ...trace, program: { ...trace.program, code: `${trace.program.code}\n# ! because` } }
  const [, listing, questions, , answers] = sheetOf({ trace: told, title: '', written, lang: 'en', t: wordsOf(en) })
  expect(listing!.textContent).not.toContain('because')
  expect(questions!.textContent).toContain('ask 0')
  expect(answers!.textContent).toContain('why 0')
})
