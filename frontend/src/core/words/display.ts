// How a tensor is shown in a small space: a number, a bracketed matrix, a thumbnail with its norm, or a word.

import type { Tensor } from '../../api/types'
import { formatDigits, formatNumber, formatShape, MINUS, textWidth, wireNumber } from './format'

type WordLook = 'dashed' | 'hatch' | 'solid' | 'plain' | 'cells'

export type Display =
  | { kind: 'number'; text: string; width: number; height: number }
  | {
      kind: 'matrix'
      rows: readonly (readonly string[])[]
      columns: readonly number[]
      /** Between them. */
      gap: number
      stacked: boolean
      width: number
      height: number
    }
  /** `norm`: of truth values how many of them are True, as `3/12`. */
  | { kind: 'thumb'; tensor: Tensor; norm: string; stacked: boolean; trouble: string; width: number; height: number }
  | { kind: 'word'; text: string; look: WordLook; width: number; height: number }

const MATRIX_SIZE = 11
export const MATRIX_ROW = 15
const SCALAR_SIZE = 12.5
const CELL_GAP = 13.2
export const BRACKET = 8
const CLEARLY = 16
export const THUMB_WIDTH = 80
export const THUMB_HEIGHT = 24

export const NONE: Display = word('None', 'dashed')
export const WAITING: Display = { kind: 'word', text: '·', look: 'plain', width: 8, height: 18 }

/** A value that was not recorded: it only existed inside the op. */
export const UNKNOWN: Display = word('—', 'plain')

export function word(text: string, look: WordLook): Display {
  return { kind: 'word', text, look, width: textWidth(text, 11) + (look === 'plain' ? 0 : 16), height: 20 }
}

const shown = new WeakMap<Tensor, Display>()

/** How a tensor looks in a cell or label. */
export function display(tensor: Tensor): Display {
  let result = shown.get(tensor)
  if (!result) shown.set(tensor, (result = decide(tensor)))
  return result
}

/** The same where numbers may take so much room: with 3 digits, of a long vector the first and the last, with 2 digits,
 *  or else its picture where that is clearly narrower; of `few` numbers there is none. */
export function displayIn(tensor: Tensor, room: number, few = 0): Display {
  const full = display(tensor)
  if (full.kind !== 'matrix' || full.width <= room) return full
  const { rows, stacked } = full
  const [row, ...more] = rows
  const ends = more[0] || row!.length < 5 ? [] : [[[row![0]!, '…', row!.at(-1)!]]]
  const [three, two] = [3, 2].map((digits) => rows.map((row) => row.map((text) => inDigits(text, digits))))
  const shorter = [three!, ...ends, two!].map((rows) => matrix(rows, stacked, MATRIX_SIZE * 0.6))
  const picture = thumb(tensor, stacked)
  const most = rows.flat().length > few ? Math.max(room, picture.width + CLEARLY) : Infinity
  return shorter.find(({ width }) => width <= room) ?? shorter.slice(1).find(({ width }) => width <= most) ?? picture
}

/** The numbers of a text with so many digits. */
export function inDigits(text: string, digits: number): string {
  return text.replace(/−?\d[\d.]*(e−?\d+)?/g, (one) => formatDigits(Number(one.replaceAll(MINUS, '-')), digits))
}

function decide(tensor: Tensor): Display {
  if (tensor.contents === 'uninitialised') return word('empty()', 'cells')
  if (tensor.contents === 'unreadable') return UNKNOWN
  if (tensor.shape.includes(0)) return word(tensor.shape[1] == null ? '[]' : formatShape(tensor.shape), 'plain')
  const values = tensor.data ? numbers(tensor) : null
  if (tensor.shape.length === 0) return values ? scalar(values[0] ?? '') : WAITING
  const plane = planeOf(tensor.shape)
  const rows = values ? smallRows(values, plane) : null
  const stacked = plane.length > 2
  return rows ? matrix(rows, stacked) : thumb(tensor, stacked)
}

/** Of more than two axes those that are longer than 1: the last two of them are drawn. */
function planeOf(shape: readonly number[]): readonly number[] {
  return shape.length > 2 ? shape.filter((size) => size > 1) : shape
}

/** The norm of many. */
export function normed(norm: number): Display {
  return scalar(`‖${formatNorm(norm)}‖`)
}

function scalar(text: string): Display {
  if (text === 'NaN') return word(text, 'hatch')
  if (text.endsWith('Inf')) return word(text, 'solid')
  return { kind: 'number', text, width: textWidth(text, SCALAR_SIZE), height: 16 }
}

/** Elements as text; a complex number is one element. */
function numbers(tensor: Tensor): string[] {
  const data = tensor.data ?? []
  if (tensor.dtype === 'bool') return data.map((value) => (wireNumber(value) ? 'True' : 'False'))
  if (!tensor.dtype.startsWith('complex')) return data.map((value) => formatNumber(wireNumber(value)))
  const pairs: string[] = []
  for (let at = 0; at + 1 < data.length; at += 2) {
    const imaginary = wireNumber(data[at + 1]!)
    const sign = imaginary < 0 ? '' : '+'
    pairs.push(`${formatNumber(wireNumber(data[at]!))}${sign}${formatNumber(imaginary)}i`)
  }
  return pairs
}

function smallRows(values: readonly string[], shape: readonly number[]): string[][] | null {
  const [columns = 1, rows = 1] = shape.toReversed()
  if (rows === 1) return [columns <= 4 ? values.slice(0, columns) : [...values.slice(0, 3), '…', values[columns - 1]!]]
  if (rows > 3 || columns > 3) return null
  return Array.from({ length: rows }, (_, row) => values.slice(row * columns, (row + 1) * columns))
}

function matrix(
  rows: readonly (readonly string[])[], stacked: boolean, gap = CELL_GAP,
): Display & { kind: 'matrix' } {
  const columns = rows[0]!.map((_, at) => Math.max(...rows.map((row) => textWidth(row[at]!, MATRIX_SIZE))))
  const inner = columns.reduce((sum, column) => sum + column, 0) + (columns.length - 1) * gap
  return {
    kind: 'matrix', rows, columns, gap, stacked, width: inner + 2 * BRACKET + (stacked ? 5 : 0),
    height: rows.length * MATRIX_ROW + 1,
  }
}

function thumb(tensor: Tensor, stacked: boolean): Display {
  const trouble = nonFiniteText(tensor)
  const norm = tensor.dtype === 'bool' ? trueOf(tensor) : formatNorm(normOf(tensor))
  return {
    kind: 'thumb', tensor, norm, stacked, trouble, width: THUMB_WIDTH + 10 + Math.max(30, textWidth(norm, 11)),
    height: THUMB_HEIGHT,
  }
}

/** The norm of truth values is the root of how many are True. */
function trueOf(tensor: Tensor): string {
  const n = Math.round(normOf(tensor) ** 2)
  return n >= 0 ? `${n}/${tensor.shape.reduce((product, size) => product * size)}` : ''
}

/** A picture in a few letters: `‖1.73‖`, `True 3/12`, `−Inf ×28`. */
export function thumbText({ tensor, norm, trouble }: Display & { kind: 'thumb' }): string {
  return trouble || (tensor.dtype === 'bool' ? `True ${norm}` : `‖${norm}‖`)
}

/** 3 significant digits, and all of them before the point. */
export function formatNorm(norm: number): string {
  if (!Number.isFinite(norm) || Math.abs(norm) < 1e-4 || norm >= 1000) return formatNumber(norm)
  return String(Number(norm.toPrecision(3)))
}

export function nonFinite(tensor: Tensor): { nan: number; inf: number } {
  if (tensor.summary) return { nan: tensor.summary.nan ?? 0, inf: tensor.summary.inf ?? 0 }
  const values = (tensor.data ?? []).map(wireNumber)
  return { nan: values.filter(Number.isNaN).length, inf: values.filter((value) => Math.abs(value) === Infinity).length }
}

/** Euclidean norm, from the values or the summary; NaN when neither is known. */
export function normOf(tensor: Tensor): number {
  if (tensor.summary) return wireNumber(tensor.summary.norm)
  if (!tensor.data) return NaN
  return Math.sqrt(tensor.data.reduce<number>((sum, value) => sum + wireNumber(value) ** 2, 0))
}

/** The one number all elements are, if they are. */
export function uniform(tensor: Tensor): number | null {
  if (tensor.contents && tensor.contents !== 'known') return null
  if (tensor.dtype.startsWith('complex')) return null
  if (tensor.data) {
    const first = tensor.data[0]
    return first !== undefined && tensor.data.every((value) => value === first) ? wireNumber(first) : null
  }
  const { summary } = tensor
  return summary && summary.min === summary.max && !nonFiniteText(tensor) ? wireNumber(summary.min) : null
}

/** What is not finite in a tensor and how often, with the sign where the values are known; nothing where all is. */
export function nonFiniteText(tensor: Tensor): string {
  const { nan, inf } = nonFinite(tensor)
  if (nan + inf === 0) return ''
  const signs = new Set((tensor.data ?? []).map(wireNumber).filter((value) => Math.abs(value) === Infinity))
  const [only = 0] = signs
  const sign = signs.size === 0 ? '' : signs.size > 1 ? '±' : only < 0 ? MINUS : '+'
  const [word, count] = nan > 0 ? ['NaN', nan] : [`${sign}Inf`, inf]
  return `${word} ×${count}`
}

/** One term of a sum: the number all elements are, a small matrix's norm otherwise, with `‖ ‖`; where not all of it is
 *  finite its few numbers, or how much of it is not; a word for contents that are no numbers. */
export function brief(tensor: Tensor): string {
  const value = uniform(tensor)
  if (value !== null) return formatNumber(value)
  return (nonFiniteText(tensor) && listText(tensor)) || normText(tensor)
}

export function normText(tensor: Tensor): string {
  const shown = display(tensor)
  if (shown.kind === 'word') return shown.text
  const norm = normOf(tensor)
  return nonFiniteText(tensor) || (Number.isNaN(norm) ? '—' : `‖${formatNorm(norm)}‖`)
}

/** Whether one of them is not the same number everywhere. */
export function areMixed(tensors: readonly (Tensor | null | undefined)[]): boolean {
  return tensors.some((tensor) => tensor && uniform(tensor) === null)
}

/** The terms of one sum, told alike, for 1 + ‖0.6‖ → ‖1.5‖ would be wrong: each by the number all its elements are, or
 *  by its few where `most` letters are enough for that and a `None`, or by its norm. */
export function briefs(terms: readonly (Tensor | null | undefined)[], most = 49): (string | null | undefined)[] {
  const told = (text: (tensor: Tensor) => string) => terms.map((tensor) => tensor && text(tensor))
  if (!areMixed(terms)) return told(brief)
  const listed = told((tensor) => listText(tensor) || normIn(tensor))
  return listed.join(' + ').length > most - 4 ? told(normIn) : listed
}

/** A norm among others, of which a count as in `NaN ×1` would read as a product. */
const normIn = (tensor: Tensor): string => normText(tensor).replace(/.?(NaN|Inf) .*/, '‖$1‖')

/** A few numbers as a program lists them, `[[1, 2], [3, 4]]`; nothing where they are more. */
export function listText(tensor: Tensor, most = 4): string {
  const shown = display(tensor)
  if (shown.kind !== 'matrix' || shown.stacked || shown.rows.flat().length > most) return ''
  if (!tensor.shape.join().endsWith(planeOf(tensor.shape).join())) return ''
  const rows = shown.rows.map((row) => `[${row.join(', ')}]`).join(', ')
  return tensor.shape.slice(1).reduce((text) => `[${text}]`, rows)
}

export interface Cells {
  rows: number
  columns: number
  /** Row-major, −1 … 1 of the symmetric range; NaN for a non-finite cell. */
  values: Float32Array
}

/** The picture of a tensor: its thumbnail, or its values pooled the same way. */
export function cells(tensor: Tensor): Cells | null {
  const { thumbnail } = tensor
  if (thumbnail) {
    const bytes = decodeBase64(thumbnail.cells)
    const values = Float32Array.from(bytes, (byte) => (byte === -128 ? NaN : byte / 127))
    return { rows: thumbnail.rows, columns: thumbnail.columns, values }
  }
  return tensor.data ? pooled(tensor) : null
}

function pooled(tensor: Tensor): Cells {
  const step = tensor.dtype.startsWith('complex') ? 2 : 1
  const [width = 1, height = 1] = planeOf(tensor.shape).toReversed()
  const rows = Math.min(8, height)
  const columns = Math.min(16, width)
  const sums = new Float32Array(rows * columns)
  const counts = new Float32Array(rows * columns)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const cell = Math.floor((y * rows) / height) * columns + Math.floor((x * columns) / width)
      sums[cell]! += finite(wireNumber(tensor.data![(y * width + x) * step]!))
      counts[cell]! += 1
    }
  }
  const means = sums.map((sum, at) => sum / counts[at]!)
  const scale = means.reduce((most, mean) => (Math.abs(mean) > most ? Math.abs(mean) : most), 0)
  return { rows, columns, values: scale > 0 ? means.map((mean) => mean / scale) : means }
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : NaN
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Base64 to signed bytes; written out because a bare V8 has no `atob`. */
export function decodeBase64(text: string): Int8Array {
  const clean = text.replace(/=+$/, '')
  const bytes = new Int8Array(Math.floor((clean.length * 3) / 4))
  let bits = 0
  let held = 0
  let at = 0
  for (const letter of clean) {
    bits = ((bits << 6) | ALPHABET.indexOf(letter)) & 0xffff
    held += 6
    if (held >= 8) {
      held -= 8
      bytes[at++] = (bits >> held) & 0xff
    }
  }
  return bytes
}

export function encodeBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const [a, b, c] = [bytes[at]!, bytes[at + 1], bytes[at + 2]]
    text += ALPHABET[a >> 2]! + ALPHABET[((a & 3) << 4) | ((b ?? 0) >> 4)]!
    text += b === undefined ? '=' : ALPHABET[((b & 15) << 2) | ((c ?? 0) >> 6)]!
    text += c === undefined ? '=' : ALPHABET[c & 63]!
  }
  return text
}
