import { describe, expect, test } from 'vitest'
import type { Tensor } from '../../api/types'
import {
  brief, briefs, cells, decodeBase64, display, encodeBase64, listText, normOf, thumbText, uniform,
} from './display'
import {
  formatCount, formatNumber, formatShape, lettersOf, plus, textWidth, cutMiddle, cutName, cutPath,
} from './format'
import { TOKENS, parse } from '../paint/colour'
import { encodePng, nonFiniteColour } from '../paint/picture'

type Thumb = ReturnType<typeof display> & { kind: 'thumb' }

function tensor(shape: number[], data: Tensor['data'], more: Partial<Tensor> = {}): Tensor {
  return { id: 't', shape, dtype: 'float32', role: 'result', data, ...more }
}

describe('numbers', () => {
  test.each([
    [0, '0'],
    [2.25, '2.25'],
    [-0.5, '−0.5'],
    [1 / 3, '0.3333'],
    [46, '46'],
    [123.456, '123.5'],
    [1234.56, '1235'],
    [27520, '27520'],
    [0.1 + 0.2, '0.3'],
    [1.2e-5, '1.2e−5'],
    [Math.fround(1e-4), '0.0001'],
    [-6.4e-12, '−6.4e−12'],
    [3.1e9, '3.1e9'],
    [NaN, 'NaN'],
    [-Infinity, '−Inf'],
  ])('%d is %s', (value, text) => expect(formatNumber(value)).toBe(text))

  test('counts and shapes', () => {
    expect([864, 4224, 12640, 1_300_000].map(formatCount)).toEqual(['864', '4.2k', '12.6k', '1.3M'])
    expect([formatShape([]), formatShape([4, 16, 32])]).toEqual(['()', '4×16×32'])
  })
})

test('text is measured without a page, and cut to fit', () => {
  expect(textWidth('ab', 10)).toBeCloseTo(12)
  expect(textWidth('梯度', 10)).toBeCloseTo(20)
  const cut = cutMiddle('MaxPool2DWithIndicesBackward0', 10, 90)
  expect(cut).toMatch(/^MaxPool.*…/)
  expect(textWidth(cut, 10)).toBeLessThanOrEqual(90)
  expect(cutName('for p, y in zip(a, b)', 10, 60)).toBe('for p, y …')
  expect(cutName('encoder.layers.0.attention', 10, 90)).toMatch(/….*n$/)
})

test('what colours the letters of a terminal is none of them', () => {
  expect(lettersOf('\u001b[1;31mred\u001b[0m [0m \u001b[2Kend')).toBe('red [0m end')
})

describe('a tensor in a cell', () => {
  test('of more than two axes those of size 1 are passed over', () => {
    const deep = tensor([2, 3, 1, 1], [1, 2, 3, 4, 5, 6])
    expect(display(deep)).toMatchObject({ rows: [['1', '2', '3'], ['4', '5', '6']], stacked: false })
    expect(listText(deep)).toBe('')
    expect(display(tensor([1, 2, 1], [1, 2]))).toMatchObject({ rows: [['1', '2']], stacked: false })
    expect(display(tensor([2, 1, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]))).toMatchObject({ stacked: true })
    expect(listText(tensor([1, 1, 2], [1, 2]))).toBe('[[[1, 2]]]')
    expect(display(tensor([1, 1, 1], [7]))).toMatchObject({ rows: [['7']], stacked: false })
    expect(cells(deep)).toMatchObject({ rows: 2, columns: 3 })
  })

  test('a scalar is a number, a small matrix stands in brackets', () => {
    expect(display(tensor([], [27]))).toMatchObject({ kind: 'number', text: '27' })
    expect(display(tensor([2, 2], [1, -0.5, 3, 4]))).toMatchObject({
      kind: 'matrix',
      rows: [
        ['1', '−0.5'], ['3', '4'],
      ],
      stacked: false,
    })
  })

  test('a vector shows four, else three and its last', () => {
    expect(display(tensor([4], [1, 2, 3, 4]))).toMatchObject({ rows: [['1', '2', '3', '4']] })
    expect(display(tensor([5], [1, 2, 3, 4, 5]))).toMatchObject({ rows: [['1', '2', '3', '…', '5']] })
  })

  test('larger ones are pictures with a norm', () => {
    const big = tensor([4, 4], Array(16).fill(0.5))
    expect(display(big)).toMatchObject({ kind: 'thumb', norm: '2', stacked: false, trouble: '' })
    const mask = (more: Partial<Tensor>) => display(tensor([3, 4], null, { dtype: 'bool', ...more })) as Thumb
    const summary = { min: 0, max: 1, mean: 0.25, std: 0.4, norm: Math.sqrt(3) }
    expect(thumbText(mask({ data: [1, 1, 1, ...Array(9).fill(0)].map(Boolean) }))).toBe('True 3/12')
    expect(thumbText(mask({ summary }))).toBe('True 3/12')
    const upper = display(tensor([4, 4], Array.from({ length: 16 }, (_, at) => (at % 4 > at / 4 ? '-inf' : 0))))
    expect(upper.kind === 'thumb' && thumbText(upper)).toBe('−Inf ×6')
    expect(mask({}).norm).toBe('')
    expect(display(tensor([2, 4, 4], Array(32).fill(1)))).toMatchObject({ stacked: true })
  })

  test('what is not a number never looks like one', () => {
    expect(display(tensor([], ['nan']))).toMatchObject({ kind: 'word', look: 'hatch', text: 'NaN' })
    expect(display(tensor([], ['inf']))).toMatchObject({ kind: 'word', look: 'solid', text: '+Inf' })
    expect(display(tensor([2], null, { contents: 'uninitialised' }))).toMatchObject({
      kind: 'word', look: 'cells', text: 'empty()',
    })
    expect(display(tensor([4, 4], ['nan', ...Array(15).fill(1)]))).toMatchObject({ kind: 'thumb', trouble: 'NaN ×1' })
    expect(display(tensor([4, 4], ['-inf', '-inf', ...Array(14).fill(1)]))).toMatchObject({ trouble: '−Inf ×2' })
  })

  test('infinity, as in a mask, has not the colour of an error', () => {
    expect(nonFiniteColour(tensor([2], ['-inf', 0]), 'light')).toEqual(parse(TOKENS.light.ink))
    expect(nonFiniteColour(tensor([2], ['-inf', 'nan']), 'dark')).toEqual(parse(TOKENS.dark.err))
  })

  test('booleans and complex numbers keep their look', () => {
    expect(display(tensor([2], [true, false], { dtype: 'bool' }))).toMatchObject({ rows: [['True', 'False']] })
    expect(display(tensor([], [1, -2], { dtype: 'complex64' }))).toMatchObject({ text: '1−2i' })
  })

  test('the terms of a sum are told alike', () => {
    const [ones, pair] = [tensor([2], [1, 1]), tensor([2], [0.375, -0.5])]
    expect(briefs([ones, null, ones])).toEqual(['1', null, '1'])
    expect(briefs([ones, pair])).toEqual(['[1, 1]', '[0.375, −0.5]'])
    expect(briefs([ones, pair], 20)).toEqual(['‖1.41‖', '‖0.625‖'])
    const broken = [['nan', 1], ['-inf', 1]].map((values) => tensor([2], values as ['nan' | '-inf', number]))
    expect(briefs([ones, ...broken], 20), 'a count would read as a product').toEqual(['‖1.41‖', '‖NaN‖', '‖Inf‖'])
    expect(briefs([ones, pair, ones, pair, pair])).toEqual(['‖1.41‖', '‖0.625‖', '‖1.41‖', '‖0.625‖', '‖0.625‖'])
    const empty = [[0], [2, 0]].map((shape) => display(tensor(shape, [])))
    expect(empty).toMatchObject([{ text: '[]' }, { text: '2×0' }])
    const [column, row] = [tensor([2, 1], [1, 2]), tensor([1, 2], [1, -2])]
    expect(briefs([column, row])).toEqual(['[[1], [2]]', '[[1, −2]]'])
    const square = tensor([2, 2], [1, 2, 3, 4])
    expect(briefs([square, tensor([2, 2], [1, 1, 1, 1])])).toEqual(['[[1, 2], [3, 4]]', '[[1, 1], [1, 1]]'])
    expect(briefs([tensor([2, 3], [1, 1, 1, 1, 1, 2])])).toEqual(['‖3‖'])
    expect(briefs([tensor([2, 1, 2], [1, 1, 1, 1]), square])[0]).toBe('‖2‖')
    expect(briefs([tensor([5], [1, 1, 1, 1, 1]), tensor([5], [0, 0, 0, 3, 4])])).toEqual(['‖2.24‖', '‖5‖'])
  })

  test('a term below 0 has brackets behind its sign', () => {
    expect(plus(['−2', '−3', '[−1, 0]'])).toBe('−2 + (−3) + [−1, 0]')
  })

  test('a term is the uniform value or a norm', () => {
    expect(brief(tensor([2, 2], [2.25, 2.25, 2.25, 2.25]))).toBe('2.25')
    expect(brief(tensor([2], [3, 4]))).toBe('‖5‖')
    expect(brief(tensor([3], ['-inf', 2, '-inf']))).toBe('[−Inf, 2, −Inf]')
    expect(brief(tensor([5], ['-inf', 'inf', 0, 0, 0]))).toBe('±Inf ×2')
    expect(brief(tensor([5], [0.25, 'inf', 'nan', 0, 0]))).toBe('NaN ×1')
    expect(brief(tensor([3], [0.25, 'inf', 'nan']))).toBe('[0.25, +Inf, NaN]')
    const masked = { min: 0, max: 1, mean: 0, std: 0, norm: 3.5, inf: 6 }
    expect(brief(tensor([9, 9], null, { summary: masked }))).toBe('Inf ×6')
    expect(uniform(tensor([2], ['nan', 'nan']))).toBeNaN()
    expect(normOf(tensor([9], null, { summary: { min: 0, max: 1, mean: 0, std: 0, norm: 3.5 } }))).toBe(3.5)
  })
})

describe('pictures', () => {
  test('pooling keeps the sign and marks what is not finite', () => {
    const { rows, columns, values } = cells(tensor([2, 2], [1, -2, 'inf', 0]))!
    expect([rows, columns]).toEqual([2, 2])
    expect([...values]).toEqual([0.5, -1, NaN, 0])
  })

  test('cells of the wire are signed bytes', () => {
    const bytes = Uint8Array.from([127, 129, 0, 128])
    const thumbnail = { rows: 1, columns: 4, cells: encodeBase64(bytes), scale: 2 }
    expect([...cells(tensor([1, 400], null, { thumbnail }))!.values]).toEqual([1, -1, 0, NaN])
  })

  test('base64 survives every length', () => {
    for (let length = 0; length < 8; length++) {
      const bytes = Uint8Array.from({ length }, (_, at) => at * 37)
      expect([...decodeBase64(encodeBase64(bytes))]).toEqual([...Int8Array.from(bytes)])
      expect(encodeBase64(bytes)).toBe(btoa(String.fromCharCode(...bytes)))
    }
  })

  test('a PNG inflates to its rows', async () => {
    const { inflateSync } = await import('node:zlib')
    const png = encodePng({ width: 2, height: 2, data: Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]) })
    const body = png.indexOf(73, 33) // the I of IDAT
    const size = new DataView(png.buffer).getUint32(body - 4)
    expect([...inflateSync(png.subarray(body + 4, body + 4 + size))]).toEqual([
      0, 1, 2, 3, 4, 5, 6, 0, 7, 8, 9, 10, 11, 12,
    ])
  })
})

test('a path that is cut keeps its end', () => {
  const room = textWidth('decoder.w', 10)
  expect(['decoder.weight', 'decoder.bias', 'self.hidden(x)', 'short.w', 'a_very_long_name'].map((text) =>
    cutPath(text, 10, room))).toEqual(['…weight', '…bias', 'self.hid…', 'short.w', 'a_very_l…'])
})

test('of a path as much of its end is kept as there is room for', () => {
  expect([100, 70, 50].map((room) => cutPath('net.2.weight', 11, room))).toEqual(
    ['net.2.weight', '…2.weight', '…weight'])
})
