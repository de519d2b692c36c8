// The size formula of convolutions and poolings as MathML, in letters and with the numbers of one axis.

import type { Window, WindowAxis } from '../../api/types'

const AXES: Readonly<Record<number, readonly string[]>> = { 1: ['L'], 2: ['H', 'W'], 3: ['D', 'H', 'W'] }

interface AxisLine {
  /** `H`, or `H, W` when both have the same numbers. */
  name: string
  axis: WindowAxis
}

/** The axes with different numbers, each once. */
export function axisLines({ axes }: Window): AxisLine[] {
  const names = AXES[axes.length] ?? axes.map((_, at) => String(at))
  const lines = new Map<string, AxisLine>()
  axes.forEach((axis, at) => {
    const key = JSON.stringify(axis)
    const known = lines.get(key)
    if (known) known.name += `, ${names[at]}`
    else lines.set(key, { name: names[at] ?? '', axis })
  })
  return [...lines.values()]
}

type Part = (value: number | string) => string

const number: Part = (value) => `<mn>${value}</mn>`
const letter: Part = (value) => `<mi>${value}</mi>`
const sign = (text: string): string => `<mo>${text}</mo>`
const times = sign('·')

interface Parts {
  size: string
  kernel: string
  stride: string
  padding: string
  dilation: string
  outputPadding: string
  /** More padding at the end. */
  end: string
}

const LETTERS: Parts = {
  size: letter('in'), kernel: letter('k'), stride: letter('s'), padding: letter('p'), dilation: letter('d'),
  outputPadding: letter('o'), end: '',
}

function formula(kind: Window['kind'], ceil: boolean, parts: Parts): string {
  const reach = `${parts.dilation}${times}${sign('(')}${parts.kernel}${sign('−')}${number(1)}${sign(')')}`
  const padded = `${number(2)}${times}${parts.padding}`
  if (kind === 'transpose') {
    return `${sign('(')}${parts.size}${sign('−')}${number(1)}${sign(')')}${times}${parts.stride}${sign('−')}${padded}${sign('+')}${reach}${sign('+')}${parts.outputPadding}${sign('+')}${number(1)}`
  }
  const less = `${sign('−')}${reach}${sign('−')}${number(1)}`
  const above = `<mrow>${parts.size}${sign('+')}${padded}${parts.end}${less}</mrow>`
  const [open, close] = ceil ? ['⌈', '⌉'] : ['⌊', '⌋']
  return `<mrow>${sign(open)}<mfrac>${above}<mrow>${parts.stride}</mrow></mfrac>${sign(close)}</mrow>${sign('+')}${number(1)}`
}

function wrapped(inner: string): string {
  return `<math display="inline" displaystyle="true"><mrow>${inner}</mrow></math>`
}

/** `out = ⌊(in + 2p − d(k − 1) − 1) / s⌋ + 1`. */
export function general(window: Window): string {
  return wrapped(`${letter('out')}${sign('=')}${formula(window.kind, window.ceil ?? false, LETTERS)}`)
}

/** The same with the numbers of one axis, and what comes of it. */
export function filledIn(window: Window, axis: WindowAxis): string {
  const parts: Parts = {
    size: number(axis.size),
    kernel: number(axis.kernel),
    stride: number(axis.stride),
    padding: number(axis.padding),
    dilation: number(axis.dilation ?? 1),
    outputPadding: number(axis.output_padding ?? 0),
    end: axis.padding_end ? `${sign('+')}${number(axis.padding_end)}` : '',
  }
  const less = fewer(window, axis)
  const given = formula(window.kind, window.ceil ?? false, parts)
  return wrapped(`${given}${less ? `${sign('−')}${number(less)}` : ''}${sign('=')}${number(axis.out)}`)
}

/** With `ceil_mode`: windows that would begin in the padding at the end, and are left out. */
export function fewer(window: Window, axis: WindowAxis): number {
  if (!window.ceil || window.kind === 'transpose') return 0
  const room = axis.size + 2 * axis.padding - (axis.dilation ?? 1) * (axis.kernel - 1) - 1
  return Math.ceil(room / axis.stride) + 1 - axis.out
}

/** What the letters stand for here. */
export function letters(window: Window, axis: WindowAxis): { letter: string; name: string; value: number }[] {
  const all = [
    { letter: 'in', name: 'in', value: axis.size },
    { letter: 'k', name: 'kernel_size', value: axis.kernel },
    { letter: 's', name: 'stride', value: axis.stride },
    { letter: 'p', name: 'padding', value: axis.padding },
    { letter: 'd', name: 'dilation', value: axis.dilation ?? 1 },
  ]
  return window.kind === 'transpose'
    ? [...all, { letter: 'o', name: 'output_padding', value: axis.output_padding ?? 0 }]
    : all
}

const MOST_CELLS = 30
const MOST_WINDOWS = 12

/** Which cells of the padded axis each window covers, from the first window on; null when that is too much to draw. */
export function windows(window: Window, axis: WindowAxis): number[][] | null {
  const padded = axis.size + 2 * axis.padding + (axis.padding_end ?? 0)
  if (window.kind === 'transpose' || padded > MOST_CELLS || axis.out > MOST_WINDOWS) return null
  return Array.from({ length: axis.out }, (_, at) =>
    Array.from({ length: axis.kernel }, (_, cell) => at * axis.stride + cell * (axis.dilation ?? 1)),
  )
}
