import { describe, expect, test } from 'vitest'
import type { Comparison, Named, Side, Tensor } from '../../api/types'
import {
  areStrangers, inWords, lineHere, lineThere, opNotes, opRows, plainRows, runNamed, tensorRows, typeRows,
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
    types: [],
    passes: [],
    tensors: [],
    matched: 4,
    ...part,
  }
}

const named = (name: string, part: Partial<Named> = {}): Named => ({ name, role: 'leaf', ...part })

describe('rows of three runs', () => {
  test('node types count what each run has, those that differ most first', () => {
    const rows = typeRows([
      told({
        types: [
          { type: 'AddBackward0', here: 1, there: 1 }, { type: 'MulBackward0', here: 11, there: 6 },
        ],
      }),
      told({
        types: [
          { type: 'AddBackward0', here: 1, there: 1 }, { type: 'MulBackward0', here: 11, there: 1 },
          { type: 'SubBackward0', here: 0, there: 2 },
        ],
      }),
    ])
    expect(rows).toEqual([
      { type: 'MulBackward0', counts: [11, 6, 1] },
      { type: 'SubBackward0', counts: [0, 0, 2] },
      { type: 'AddBackward0', counts: [1, 1, 1] },
    ])
  })

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

  test('a place that only one comparison names has as many ops in the other run as in the first', () => {
    const rows = opRows([
      told({ ops: [{ name: 'mul', line: 5, line_there: 5, here: 11, there: 6, differing: 6 }] }),
      told({ ops: [{ name: 'exp', line: null, line_there: 9, here: 0, there: 1 }] }),
    ])
    expect(rows).toEqual([
      { name: 'mul', line: 5, of: 0, counts: [11, 6, 11], differing: [6, 0] },
      { name: 'exp', line: 9, of: 2, counts: [0, 0, 1], differing: [0, 0] },
    ])
  })

  test('a value that only one comparison names is the first run’s in the other', () => {
    expect(plainRows([told({ plain: [{ name: 'n', here: '11', there: '6' }] }), told()])).toEqual([
      { name: 'n', texts: ['11', '6', '11'] },
    ])
  })
})

test('lines are followed to the other program and back', () => {
  const one = told({ lines: [{ here: 1, there: 1, count: 3 }, { here: 5, there: 9, changed: true }] })
  expect([1, 3, 4, 5].map((line) => lineThere(one, line))).toEqual([1, 3, null, 9])
  expect([1, 9, 4].map((line) => lineHere(one, line))).toEqual([1, 5, null])
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
    expect(inWords(tensor(1, -1.0001), tensor(1.00001, -1.0002), brief)).toEqual(['−1.0001', '−1.0002'])
  })
  test('stay short where they differ at once', () => {
    expect(inWords(tensor(1), tensor(2), brief)).toEqual(['1.0', '2.0'])
  })
  test('that are no numbers, or of other sizes, stay as they are', () => {
    expect(inWords(tensor('nan'), tensor('nan'), () => 'NaN')).toEqual(['NaN', 'NaN'])
    expect(inWords(tensor(1), tensor(1, 2), brief)).toEqual(['1.0', '1.0'])
  })
})

test('a run is found in an id, and in addresses of the page, the API and an embed', () => {
  const run = '7l77t2b5c7xkyojym5vthzsol4'
  const addresses = [
    run,
    ` ${run}\n`,
    `http://h/#run=${run}&step=3`,
    `#lesson=diamond&run=${run}`,
    `/api/v1/runs/${run}/graph?level=both`,
    `https://h/embed/${run}?step=1`,
  ]
  expect(addresses.map(runNamed)).toEqual(addresses.map(() => ({ run })))
  expect(runNamed('http://h/#lesson=while_loop&lang=en')).toEqual({ lesson: 'while_loop' })
  expect(['', 'y = x * 2', 'short', 'http://elsewhere/page', '../../etc'].map(runNamed)).toEqual([
    null, null, null, null, null,
  ])
})
