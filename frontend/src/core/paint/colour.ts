// Colour tokens of both themes, the diverging palette of signed numbers and the tint of gradient norms.

export type Shade = 'light' | 'dark'

export interface Tokens {
  paper: string
  panel: string
  sunken: string
  line: string
  line2: string
  ink: string
  ink2: string
  ink3: string
  grad: string
  gradline: string
  gradsoft: string
  err: string
  errsoft: string
  note: string
  notesoft: string
}

export const TOKENS: Record<Shade, Tokens> = {
  light: {
    paper: '#FBFAF7',
    panel: '#FFFFFF',
    sunken: '#F4F2ED',
    line: '#E3E0D8',
    line2: '#C3BFB4',
    ink: '#1B1C1E',
    ink2: '#53565B',
    ink3: '#6C6F74',
    grad: '#006B56',
    gradline: '#2E9A80',
    gradsoft: '#E0F0EA',
    err: '#B3261E',
    errsoft: '#FBEBE8',
    note: '#8A5A00',
    notesoft: '#FAF1DC',
  },
  dark: {
    paper: '#131516',
    panel: '#191B1D',
    sunken: '#0F1112',
    line: '#2A2D30',
    line2: '#4B4F54',
    ink: '#ECEAE5',
    ink2: '#B0B2B5',
    ink3: '#8D9094',
    grad: '#52CDAB',
    gradline: '#2F9078',
    gradsoft: '#14332B',
    err: '#FF8F80',
    errsoft: '#3A1C19',
    note: '#E3B558',
    notesoft: '#33290F',
  },
}

export type RGB = readonly [number, number, number]

const DIVERGING: Record<Shade, readonly RGB[]> = {
  light: ['#8F3B00', '#DD8F4C', '#F5F3EE', '#76A9D8', '#134F8F'].map(parse),
  dark: ['#FFB56B', '#A85A18', '#222528', '#2A6FB0', '#8CC8FF'].map(parse),
}

const TINT: Record<Shade, { from: RGB; to: RGB; most: number }> = {
  light: { from: parse('#F5F3EE'), to: parse('#2E9A80'), most: 0.62 },
  dark: { from: parse('#222528'), to: parse('#3BB393'), most: 0.5 },
}

/** Colour of a value in −1 … 1 of its symmetric range. */
export function diverging(value: number, shade: Shade): RGB {
  const stops = DIVERGING[shade]
  const at = (Math.max(-1, Math.min(1, value)) + 1) * 2
  const low = Math.min(3, Math.floor(at))
  return mix(stops[low]!, stops[low + 1]!, at - low)
}

/** Fill of a gradient cell tinted by its norm, on a log scale from the smallest to the largest norm shown. */
export function gradientTint(norm: number, smallest: number, largest: number, shade: Shade): string {
  const { from, to, most } = TINT[shade]
  if (!(norm > 0) || !(smallest > 0)) return hex(from)
  const span = Math.log(largest / smallest)
  const share = span > 0 ? Math.log(norm / smallest) / span : 1
  return hex(mix(from, to, most * Math.max(0, Math.min(1, share))))
}

export function mix(a: RGB, b: RGB, share: number): RGB {
  return [a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share, a[2] + (b[2] - a[2]) * share]
}

export function hex([r, g, b]: RGB): string {
  return `#${[r, g, b].map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`
}

export function parse(colour: string): RGB {
  const part = (at: number) => parseInt(colour.slice(at, at + 2), 16)
  return [part(1), part(3), part(5)]
}
