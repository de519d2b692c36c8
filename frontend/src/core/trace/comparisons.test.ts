import { describe, expect, test } from 'vitest'
import type { Box, Comparison, Graph, Link, Named, Side, Tensor } from '../../api/types'
import {
  areStrangers, boxBeside, boxThere, inWords, leavesApart, lineHere, lineThere, opNotes, tensorRows, turned,
} from './comparisons'

const side = (part: Partial<Side> = {}): Side => ({
  run: 'r',
  status: 'ok',
  ops: 4,
  nodes: 3,
  depth: 2,
  passes: 1,
  ...part,
})

function told(part: Partial<Comparison> = {}): Comparison {
  return {
    format: 'gradgraph.compare/1',
    here: side(),
    there: side(),
    differs: true,
    lines: [],
    tensors: [],
    matched: 4,
    ...part,
  }
}

const named = (name: string, part: Partial<Named> = {}): Named => ({ name, role: 'leaf', ...part })

test('seen from the other run, what is here is there, and where only one is told it stays', () => {
  const split = { here: 'o1', there: 'o2', line: 3, line_there: 4, tensor_here: 't1', tensor_there: 't2' }
  const seen = turned(told({ value: split, graph: { here: 'o3', there: null, line: 5 }, only_here: ['o9'] }))
  expect(seen.value).toEqual({ here: 'o2', there: 'o1', line: 4, line_there: 3, tensor_here: 't2', tensor_there: 't1' })
  expect(seen.graph).toEqual({ here: null, there: 'o3', line: 5 })
  expect(seen.only_there).toEqual(['o9'])
  const row = named('net.w', { here: 'a', there: 'b', name_there: 'model.w', gradient_there: 'g' })
  expect(turned(row)).toMatchObject({ name: 'model.w', name_there: 'net.w', here: 'b', there: 'a', gradient_here: 'g' })
})

test('leaves whose gradient differs, what differs most first', () => {
  const apart = (name: string, largest: number, more: Partial<Named> = {}): Named =>
    named(name, { here: name, gradient: { verdict: largest ? 'differs' : 'same', largest }, ...more })
  const made = apart('loss', 9, { role: 'result' })
  expect(leavesApart(told({ tensors: [apart('a', 1), made, apart('b', 4), apart('c', 0)] }))).toEqual(['b', 'a'])
})

describe('rows of three runs', () => {
  test('a tensor that one run lacks keeps its place, and what differs comes first', () => {
    const same = { verdict: 'same' as const }
    const rows = tensorRows([
      told({
        tensors: [
          named('a', { here: 't1', there: 't1', value: same }),
          named('w', { here: 't2', there: 't9', value: { verdict: 'differs', largest: 2 }, gradient_there: 't5' }),
        ],
      }),
      told({
        tensors: [
          named('a', { here: 't1', there: 't3', value: same }), named('w', { here: 't2', value: null }),
          named('q', { there: 't7' }),
        ],
      }),
    ])
    expect(rows.map((row) => row.name)).toEqual(['w', 'q', 'a'])
    expect(rows[0]).toMatchObject({ values: ['t2', 't9', null], gradients: [null, 't5', null] })
    expect(rows[0]!.differences).toEqual([{ verdict: 'differs', largest: 2 }, null])
    expect(rows[1]!.values).toEqual([null, null, 't7'])
  })

  test('leaves come before what was made of them, whatever differs', () => {
    const rows = tensorRows([
      told({
        tensors: [
          named('y', { role: 'result', here: 't1', there: 't1', value: { verdict: 'differs' } }),
          named('x', { here: 't2', there: 't2', value: { verdict: 'rounding' } }),
        ],
      }),
    ])
    expect(rows.map((row) => row.name)).toEqual(['x', 'y'])
  })
})

test('lines are followed to the other program and back', () => {
  const one = told({ lines: [{ here: 1, there: 1, count: 3 }, { here: 5, there: 9, changed: true }] })
  expect([1, 3, 4, 5].map((line) => lineThere(one, line))).toEqual([1, 3, null, 9])
  expect([1, 9, 4].map((line) => lineHere(one, line))).toEqual([1, 5, null])
})

describe('a box of the other graph', () => {
  const box = (id: string, title: string, line?: number, name = ''): Box => ({
    id, kind: 'op', family: 'op', title, name,
    ...(line ? { span: { line, column: 0, end_line: line, end_column: 1 } } : {}),
  })
  const graph = (boxes: Box[], links: Partial<Link>[] = []): Graph => ({ boxes, links }) as Graph
  const one = told({ lines: [{ here: 5, there: 9, changed: true }, { here: 7, there: 11 }] })
  const corresponding = (here: Graph, there: Graph) => here.boxes.map((each) => boxThere(one, each, here, there)?.id)

  test('corresponds by its line, type and name; a parameter by its name', () => {
    const here = graph([box('1', 'Mul', 5), box('2', 'Mul', 5), box('3', 'Tanh', 5), box('4', 'w'), box('5', 'Sum', 6)])
    const there = graph([
      box('w', 'w'), box('a', 'Mul', 9), box('b', 'Mul', 9), box('c', 'detach', 9), box('d', 'Sum', 6),
    ])
    expect(corresponding(here, there)).toEqual(['a', 'b', undefined, 'w', undefined])
  })

  test('corresponds by its name where the line makes it otherwise, by its type where it makes as many', () => {
    const here = graph([box('1', 'Pow', 5, 'x ** 2'), box('2', 'Mul', 5, 'loss'), box('3', 'leaf', 7, 'a')])
    const there = graph([box('a', 'Pow', 9, 'x ** 3'), box('b', 'Add', 9, 'loss'), box('c', 'leaf', 8, 'b')])
    expect(corresponding(here, there)).toEqual(['a', 'b', undefined])
    const two = graph([...here.boxes, box('4', 'leaf', 7, 'b')])
    expect(corresponding(two, graph([box('c', 'leaf', 11, 'b')]))).toEqual([undefined, undefined, undefined, 'c'])
  })

  test('is looked at where nothing corresponds: the last of the line, or that of what it goes into', () => {
    const here = graph([box('2', 'Mul', 5), box('5', 'leaf', 7)], [{ source: '5', target: '2', kind: 'data' }])
    const there = graph([box('a', 'Add', 9), box('b', 'detach', 9)])
    expect(here.boxes.map((each) => boxBeside(one, each, here, there)?.id)).toEqual(['b', 'b'])
    expect(corresponding(here, there)).toEqual([undefined, undefined])
  })
})

test('ops that differ and ops without a counterpart are marked on their own side', () => {
  const one = told({ differing: [{ here: 'o1', there: 'o7' }], only_here: ['o2'], only_there: ['o8'] })
  expect([...opNotes([one], 'here')]).toEqual([['o1', '≠'], ['o2', '+']])
  expect([...opNotes([one], 'there')]).toEqual([['o7', '≠'], ['o8', '+']])
})

test('programs with nothing in common are strangers, a longer loop is not', () => {
  expect(areStrangers(told({ here: side({ ops: 29 }), there: side({ ops: 20 }), matched: 1 }))).toBe(true)
  expect(areStrangers(told({ here: side({ ops: 5000 }), there: side({ ops: 20 }), matched: 20 }))).toBe(false)
  expect(areStrangers(told({ here: side({ ops: 0 }), there: side({ ops: 0 }), matched: 0 }))).toBe(false)
})

describe('values that read the same', () => {
  const tensor = (...data: (number | string)[]): Tensor => ({
    id: 't', shape: [data.length], dtype: 'float32', role: 'result', data,
  })
  const brief = (one: Tensor): string => Number(one.data?.[0]).toPrecision(2)

  test('get as many digits as it takes, at the element that differs most', () => {
    expect(inWords(tensor(1, -1.0001), tensor(1.00001, -1.0002), brief)).toEqual(['−1.0001', '−1.0002', '[1]'])
    const [a, b] = [tensor(1, 2, 3, 4), tensor(1, 2, 3.00001, 4)].map((one) => ({ ...one, shape: [2, 2] }))
    expect(inWords(a!, b!, brief)).toEqual(['3.00000', '3.00001', '[1][0]'])
  })
  test('stay short where they differ at once', () => {
    expect(inWords(tensor(1), tensor(2), brief)).toEqual(['1.0', '2.0', ''])
  })
  test('that are no numbers, complex, or of other sizes, stay as they are', () => {
    const complex = (...data: number[]): Tensor => ({ ...tensor(...data), shape: [1], dtype: 'complex64' })
    expect(inWords(complex(1, 2), complex(1, 2.00001), brief)).toEqual(['1.0', '1.0', ''])
    expect(inWords(tensor('nan'), tensor('nan'), () => 'NaN')).toEqual(['NaN', 'NaN', ''])
    expect(inWords(tensor(1), tensor(1, 2), brief)).toEqual(['1.0', '1.0', ''])
  })
})
