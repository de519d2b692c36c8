import { describe, expect, it } from 'vitest'
import type { Window, WindowAxis } from '../../api/types'
import { axisLines, fewer, filledIn, general, letters, windows } from './window'

const axis: WindowAxis = { size: 8, kernel: 3, stride: 2, padding: 1, out: 4 }
const conv: Window = { kind: 'conv', axes: [axis, axis] }

const said = (mathml: string): string =>
  mathml.replace(/<mfrac>(<mrow>.*?<\/mrow>)(<mrow>.*?<\/mrow>)<\/mfrac>/, '$1/$2').replace(/<[^>]+>/g, '')

describe('the size formula', () => {
  it('is written in letters and with the numbers of an axis', () => {
    expect(said(general(conv))).toBe('out=⌊in+2·p−d·(k−1)−1/s⌋+1')
    expect(said(filledIn(conv, axis))).toBe('⌊8+2·1−1·(3−1)−1/2⌋+1=4')
  })

  it('rounds up where that was asked for, without windows that begin beyond the end', () => {
    const pool: Window = { kind: 'pool', ceil: true, axes: [{ size: 5, kernel: 1, stride: 3, padding: 0, out: 2 }] }
    expect(fewer(pool, pool.axes[0]!)).toBe(1)
    expect(said(filledIn(pool, pool.axes[0]!))).toBe('⌈5+2·0−1·(1−1)−1/3⌉+1−1=2')
    expect(fewer(conv, axis)).toBe(0)
  })

  it('has its own form for transposed convolutions, and for one more cell of padding', () => {
    const up: Window = {
      kind: 'transpose', axes: [{ size: 4, kernel: 3, stride: 2, padding: 1, output_padding: 1, out: 8 }],
    }
    expect(said(filledIn(up, up.axes[0]!))).toBe('(4−1)·2−2·1+1·(3−1)+1+1=8')
    expect(letters(up, up.axes[0]!).map((one) => one.name)).toContain('output_padding')
    const same: Window = { kind: 'conv', axes: [{ size: 4, kernel: 2, stride: 1, padding: 0, padding_end: 1, out: 4 }] }
    expect(said(filledIn(same, same.axes[0]!))).toBe('⌊4+2·0+1−1·(2−1)−1/1⌋+1=4')
  })

  it('is said once for axes with the same numbers', () => {
    expect(axisLines(conv).map((line) => line.name)).toEqual(['H, W'])
    expect(axisLines({ kind: 'conv', axes: [axis, { ...axis, kernel: 5 }] }).map((line) => line.name)).toEqual([
      'H', 'W',
    ])
  })
})

describe('the windows of an axis', () => {
  it('cover what the formula counts', () => {
    expect(windows(conv, axis)).toEqual([[0, 1, 2], [2, 3, 4], [4, 5, 6], [6, 7, 8]])
    expect(windows(conv, { ...axis, dilation: 2, stride: 3, out: 2 })).toEqual([[0, 2, 4], [3, 5, 7]])
  })

  it('are left out where there are too many', () => {
    expect(windows(conv, { ...axis, size: 224, out: 112 })).toBeNull()
    expect(windows({ ...conv, kind: 'transpose' }, axis)).toBeNull()
  })
})
