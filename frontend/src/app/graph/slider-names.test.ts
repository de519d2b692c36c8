import { expect, test } from 'vitest'
import type { Slider } from '../../api/types'
import { namesOf } from './slider-names'

function at(line: number, name: string): Slider {
  return { span: { line, end_line: line, column: 0, end_column: 1 }, name, least: 0, most: 1, step: 0.1 }
}

test('sliders of one name are told apart by what their lines make', () => {
  const code = 'plain = go(lr=0.1)\nadam = go(lr=1.0, momentum=0.5)\ngo(lr=2.0)\nlr = 3.0'
  const sliders = [at(1, 'lr'), at(2, 'lr'), at(2, 'momentum'), at(3, 'lr'), at(4, 'lr')]
  expect(namesOf(sliders, code)).toEqual(['plain · lr', 'adam · lr', 'momentum', 'lr', 'lr #2'])
})

test('a line that makes several things is known by the last of them', () => {
  const code = 'by_sgd, sgd = go(lr=0.1)\nby_adam, adam = go(lr=1.0)'
  expect(namesOf([at(1, 'lr'), at(2, 'lr')], code)).toEqual(['sgd · lr', 'adam · lr'])
})
