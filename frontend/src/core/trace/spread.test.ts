import { expect, test } from 'vitest'
import en from '../../../words/rooms/en.json'
import zh from '../../../words/rooms/zh.json'
import type { Question } from '../../api/types'
import { spread } from './spread'

const span = { line: 1, end_line: 1, column: 0, end_column: 1 }
const asked: Question = {
  span, text: 'x.grad', line: 1, step: 0, until: 1, kind: 'number', shape: [2], data: [1, 0.3333],
  mistakes: [{ code: 'sign', data: [-1, -0.3333] }],
}
const chosen: Question = { ...asked, kind: 'choice', choices: ['2', '4', 'None'], answer: '4', data: [] }

test('answers that say the same stand together, the most frequent first', () => {
  expect(spread(asked, [['[1, 1/3]', 2], ['1 0.333', 3], ['(-1, -1/3)', 4], ['7', 1]])).toEqual([
    { text: '1 0.333', count: 5, verdict: 'right' },
    { text: '(-1, -1/3)', count: 4, verdict: 'sign' },
    { text: '7', count: 1, verdict: 'shape' },
  ])
})

test('a right answer does not stand with one whose brackets make another shape', () => {
  const rows: Question = { ...asked, shape: [2, 1] }
  expect(spread(rows, [['[[1, 1/3]]', 2], ['[[1], [1/3]]', 1], ['1, 1/3', 4]])).toEqual([
    { text: '1, 1/3', count: 5, verdict: 'right' }, { text: '[[1, 1/3]]', count: 2, verdict: 'brackets' },
  ])
})

test('the one number that all elements are stands with all of them', () => {
  const none: Question = { ...asked, data: [0, 0], mistakes: [] }
  expect(spread(none, [['0', 2], ['[0, 0]', 1], ['[0, 1]', 1]])).toEqual([
    { text: '0', count: 3, verdict: 'right' }, { text: '[0, 1]', count: 1, verdict: 'wrong' },
  ])
})

test('None is one answer however it is spelled, and what nobody can read is shown as it is', () => {
  expect(spread(asked, [['None', 2], [' none', 1], ['<b>', 1]]).map(({ text, count }) => [text, count])).toEqual([
    ['None', 3], ['<b>', 1],
  ])
})

test('choices keep their order, and those that nobody took are there', () => {
  expect(spread(chosen, [['None', 3], ['2', 1]]).map(({ text, count, verdict }) => [text, count, verdict])).toEqual([
    ['2', 1, 'wrong'], ['4', 0, 'right'], ['None', 3, 'wrong'],
  ])
})

test('both languages have all words', () => {
  expect(Object.keys(zh)).toEqual(Object.keys(en))
})
