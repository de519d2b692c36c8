// A tensor's thumbnail as pixels, and those pixels as a PNG data URI without a compressor.

import type { Tensor } from '../../api/types'
import { diverging, TOKENS, parse, type RGB, type Shade } from './colour'
import { cells, encodeBase64, nonFinite } from '../words/display'

export interface Pixels {
  width: number
  height: number
  /** Red, green, blue; row-major. */
  data: Uint8Array
}

/** Colour of a cell that is not finite: infinity may be meant, as in a mask. */
export function nonFiniteColour(tensor: Tensor, shade: Shade): RGB {
  return parse(TOKENS[shade][nonFinite(tensor).nan > 0 ? 'err' : 'ink'])
}

/** One pixel a cell. */
function pixelsOf(tensor: Tensor, shade: Shade): Pixels | null {
  const picture = cells(tensor)
  if (!picture) return null
  const data = new Uint8Array(picture.rows * picture.columns * 3)
  const bad = nonFiniteColour(tensor, shade)
  picture.values.forEach((value, at) =>
    data.set((Number.isNaN(value) ? bad : diverging(value, shade)).map(Math.round), at * 3),
  )
  return { width: picture.columns, height: picture.rows, data }
}

const drawn: Record<Shade, WeakMap<Tensor, string>> = { light: new WeakMap(), dark: new WeakMap() }

/** `data:image/png;base64,…` of a tensor's thumbnail; empty when nothing is known. */
export function pictureUri(tensor: Tensor, shade: Shade): string {
  let uri = drawn[shade].get(tensor)
  if (uri === undefined) {
    const pixels = pixelsOf(tensor, shade)
    uri = pixels ? `data:image/png;base64,${encodeBase64(encodePng(pixels))}` : ''
    drawn[shade].set(tensor, uri)
  }
  return uri
}

/** A PNG whose image data is stored, not deflated: pictures here are at most 16×8. */
export function encodePng({ width, height, data }: Pixels): Uint8Array {
  const rows = new Uint8Array(height * (width * 3 + 1))
  for (let y = 0; y < height; y++) rows.set(data.subarray(y * width * 3, (y + 1) * width * 3), y * (width * 3 + 1) + 1)
  const header = [...big(width), ...big(height), 8, 2, 0, 0, 0]
  const stored = [
    0x78,
    0x01,
    1,
    rows.length & 255,
    rows.length >> 8,
    ~rows.length & 255,
    (~rows.length >> 8) & 255,
    ...rows,
    ...big(adler(rows)),
  ]
  return Uint8Array.from([
    137,
    80,
    78,
    71,
    13,
    10,
    26,
    10,
    ...chunk('IHDR', header),
    ...chunk('IDAT', stored),
    ...chunk('IEND', []),
  ])
}

function chunk(name: string, body: readonly number[]): number[] {
  const named = [...[...name].map((letter) => letter.charCodeAt(0)), ...body]
  return [...big(body.length), ...named, ...big(crc(named))]
}

function big(value: number): number[] {
  return [(value >>> 24) & 255, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]
}

function crc(bytes: readonly number[]): number {
  let sum = 0xffffffff
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1
  }
  return ~sum >>> 0
}

function adler(bytes: Uint8Array): number {
  let [a, b] = [1, 0]
  for (const byte of bytes) {
    a = (a + byte) % 65521
    b = (b + a) % 65521
  }
  return ((b << 16) | a) >>> 0
}
