import { expect, test } from 'vitest'
import en from '../../../words/en.json'
import enFindings from '../../../words/findings/en.json'
import zhFindings from '../../../words/findings/zh.json'
import zhQuestions from '../../../words/questions/zh.json'
import zhRooms from '../../../words/rooms/zh.json'
import zh from '../../../words/zh.json'
import { fill, pieces } from './sentences'
import { words } from './bundled'

/** The values a sentence names; a number that only picks a form is English grammar. */
const slots = (sentence: string): string[] =>
  [...new Set([...sentence.matchAll(/\{(\w+)\}/g)].map((m) => m[1] ?? ''))].sort()

const lists = { zh: { ...zh, ...zhFindings }, en: { ...en, ...enFindings } }

test('both languages have the same keys', () => {
  expect(Object.keys(en).sort()).toEqual(Object.keys(zh).sort())
  expect(Object.keys(enFindings).sort()).toEqual(Object.keys(zhFindings).sort())
})

test('the sentences of findings, and only they, are a list of their own', () => {
  const ofFinding = (key: string): boolean => key.startsWith('finding.')
  for (const list of [en, zh]) expect(Object.keys(list).filter(ofFinding)).toEqual([])
  for (const list of [enFindings, zhFindings]) expect(Object.keys(list).filter((key) => !ofFinding(key))).toEqual([])
})

test('both languages name only values the other knows', () => {
  const others = lists.zh as Readonly<Record<string, string>>
  for (const [key, sentence] of Object.entries(lists.en)) expect(slots(others[key] ?? ''), key).toEqual(slots(sentence))
})

test('what the glossary has one word for is called by no other', () => {
  const others = /维度|个轴|缺省|叶节点|句柄/
  for (const [key, sentence] of Object.entries({ ...lists.zh, ...zhQuestions, ...zhRooms }))
    expect(sentence, key).not.toMatch(others)
})

test('no sentence is empty', () => {
  for (const list of [lists.en, lists.zh])
    for (const [key, sentence] of Object.entries(list)) expect(sentence.trim(), key).not.toBe('')
})

test('a number picks its form', () => {
  expect(fill('{n} {n|node|nodes}', { n: 1 })).toBe('1 node')
  expect(fill('{n} {n|node|nodes}', { n: 3 })).toBe('3 nodes')
  const nested = 'It is {late|late, since line {line}|early}; {late||not late}.'
  expect(fill(nested, { late: '1', line: 7 })).toBe('It is late, since line 7; .')
  expect(fill(nested, { late: 0, line: '' })).toBe('It is early; not late.')
})

test('a missing value stays visible', () => {
  expect(fill('line {line}', {})).toBe('line {line}')
})

test('an unknown key comes back as itself', () => {
  expect(words('zh')('finding.from_the_future')).toBe('finding.from_the_future')
})

test('marks are split from text', () => {
  expect(pieces('a `b` **c** d')).toEqual([
    { kind: 'text', text: 'a ' },
    { kind: 'code', text: 'b' },
    { kind: 'text', text: ' ' },
    { kind: 'strong', text: 'c' },
    { kind: 'text', text: ' d' },
  ])
})

test('code in a mark may multiply and raise to a power', () => {
  const strong = (sentence: string) =>
    pieces(sentence)
      .filter((piece) => piece.kind === 'strong')
      .map((piece) => piece.text)
  for (const code of ['a * b', 'x ** 2', 'x**2 * (y)**3'])
    expect(strong(`因为 **${code}** 需要梯度，**2 份**。`), code).toEqual([code, '2 份'])
  expect(pieces('x**2 + y ** 2')).toEqual([{ kind: 'text', text: 'x**2 + y ** 2' }])
})

test('every mark of the sentences opens and closes', () => {
  for (const list of [lists.en, lists.zh])
    for (const [key, sentence] of Object.entries(list))
      expect(
        pieces(sentence)
          .filter((piece) => piece.kind === 'text')
          .map((piece) => piece.text)
          .join(' '),
        key,
      ).not.toContain('**')
})
