import { expect, test } from 'vitest'
import type { Argument, Op, Tensor } from '../../api/types'
import { isMaking, parameters } from './making'

const call = (name: string, ...given: Argument[]): Op => ({
  id: 'o1', name, function: `torch.${name}`, arguments: given, inputs: [], outputs: ['t1'], nodes: [],
})
const text = (value: string, name?: string): Argument => (name ? { name, text: value } : { text: value })
const made: Tensor = { id: 't1', shape: [2], dtype: 'int64', role: 'leaf' }
const given = (op: Op): Record<string, string | null> =>
  Object.fromEntries(
    parameters(op, made, (id) => `named ${id}`).flatMap((one) => (one.given === null ? [] : [[one.name, one.given]])),
  )

test('what was given stands beside its parameter, what was not has its default', () => {
  const op = call('tensor', text('[1, 2]'), text('True', 'requires_grad'))
  expect(given(op)).toEqual({ data: '[1, 2]', requires_grad: 'True' })
  expect(parameters(op, made, String).map(({ name, usual, became }) => [name, usual, became])).toEqual([
    ['data', null, null],
    ['dtype', 'None', 'int64'],
    ['device', 'None', 'cpu'],
    ['requires_grad', 'False', null],
    ['pin_memory', 'False', null],
  ])
})

test('several numbers are one size', () => {
  expect(given(call('zeros', text('2'), text('3'), text('torch.float64', 'dtype')))).toEqual({
    size: '2, 3', dtype: 'torch.float64',
  })
  expect(given(call('full', text('(2, 2)'), text('7')))).toEqual({ size: '(2, 2)', fill_value: '7' })
})

test('a single number to arange is its end, two to randint leave the lower bound out', () => {
  expect(given(call('arange', text('5')))).toEqual({ end: '5' })
  expect(given(call('arange', text('1'), text('5'), text('2')))).toEqual({ start: '1', end: '5', step: '2' })
  expect(given(call('randint', text('9'), text('(4,)')))).toEqual({ high: '9', size: '(4,)' })
  expect(given(call('randint', text('1'), text('9'), text('(4,)', 'size')))).toEqual({
    low: '1', high: '9', size: '(4,)',
  })
})

test('a method of the same name makes nothing here', () => {
  expect(isMaking(call('ones'))).toBe(true)
  expect(isMaking({ ...call('add'), function: 'torch.add' })).toBe(false)
  expect(isMaking({ ...call('full'), function: 'torch.Tensor.full' })).toBe(false)
})

test('a tensor that was given is told by its name', () => {
  expect(given(call('zeros_like', { tensor: 't3' }))).toEqual({ input: 'named t3' })
})
