// Two or three runs beside each other: the rows of their comparisons put together. The first run is A, the others B and
// C: that on screen and those beside it, or of two the one that was there before.

import type { Box, Comparison, Difference, Graph, Named, Tensor } from '../../api/types'
import { brackets, count, positions } from '../ops/places'
import { MINUS, wireNumber } from '../words/format'

export function letter(at: number): string {
  return 'ABC'[at] ?? String(at + 1)
}

/** A comparison as seen from the other run. */
export function turned<T>(told: T): T {
  if (Array.isArray(told)) return told.map(turned) as T
  if (!told || typeof told !== 'object') return told
  const said = told as Record<string, unknown>
  const other = (key: string): string => {
    const [, one] = /^(line|name)(_there)?$/.exec(key) ?? []
    if (one) return said[`${one}_there`] == null ? key : key === one ? `${one}_there` : one
    return key.endsWith('there') ? key.replace(/there$/, 'here') : key.replace(/here$/, 'there')
  }
  return Object.fromEntries(Object.entries(said).map(([key, value]) => [other(key), turned(value)])) as T
}

interface TensorRow {
  name: string
  /** What it is called in another run, where that differs. */
  others: string[]
  /** Record ids, run by run; null where a run has no such tensor. */
  values: (string | null)[]
  differences: (Difference | null)[]
  gradients: (string | null)[]
  gradientDifferences: (Difference | null)[]
}

/** Tensors by name, with what differs first among leaves and among results. */
export function tensorRows(all: readonly Comparison[]): TensorRow[] {
  const rows = new Map<string, TensorRow & { made: boolean }>()
  const nothing = <T>(length: number): (T | null)[] => new Array<T | null>(length).fill(null)
  all.forEach((told, at) => {
    for (const tensor of told.tensors) {
      let row = rows.get(tensor.name)
      if (!row) {
        row = {
          name: tensor.name, others: [], values: nothing(all.length + 1), differences: nothing(all.length),
          gradients: nothing(all.length + 1), gradientDifferences: nothing(all.length), made: isMade(tensor),
        }
        rows.set(tensor.name, row)
      }
      row.values[0] = tensor.here ?? row.values[0]!
      row.values[at + 1] = tensor.there ?? null
      row.gradients[0] = tensor.gradient_here ?? row.gradients[0]!
      row.gradients[at + 1] = tensor.gradient_there ?? null
      row.differences[at] = tensor.value ?? null
      row.gradientDifferences[at] = tensor.gradient ?? null
      if (tensor.name_there && !row.others.includes(tensor.name_there)) row.others.push(tensor.name_there)
    }
  })
  const weight = (row: TensorRow & { made: boolean }): number => (row.made ? 2 : 0) + (parts(row) ? 0 : 1)
  return [...rows.values()].sort((a, b) => weight(a) - weight(b)).map(({ made: _, ...row }) => row)
}

function isMade({ role }: Named): boolean {
  return role !== 'leaf' && role !== 'parameter' && role !== 'buffer'
}

function parts(row: TensorRow): boolean {
  const missing = (ids: readonly (string | null)[]): boolean =>
    ids.some((id) => id === null) && ids.some((id) => id !== null)
  return (
    missing(row.values) ||
    missing(row.gradients) ||
    [...row.differences, ...row.gradientDifferences].some(isBeyondRounding)
  )
}

/** Whether two values are known to differ by more than rounding. */
export function isBeyondRounding(found: Difference | null): boolean {
  return found !== null && found.verdict !== 'same' && found.verdict !== 'rounding' && found.verdict !== 'unknown'
}

/** Leaves whose `.grad` differs, of this run: first what differs most. */
export function leavesApart({ tensors }: Comparison): string[] {
  const by = ({ gradient }: Named): number => wireNumber(gradient?.largest ?? Infinity)
  return tensors
    .filter((named) => !isMade(named) && isBeyondRounding(named.gradient ?? null))
    .sort((a, b) => by(b) - by(a) || 0)
    .flatMap(({ here }) => here ?? [])
}

/** The line of the other run that a line here corresponds to; null when none does. */
export function lineThere(told: Comparison, line: number): number | null {
  const found = told.lines.find(({ here, count = 1 }) => line >= here && line < here + count)
  return found ? found.there + line - found.here : null
}

/** The line here that a line of the other run corresponds to. */
export function lineHere(told: Comparison, line: number): number | null {
  const found = told.lines.find(({ there, count = 1 }) => line >= there && line < there + count)
  return found ? found.here + line - found.there : null
}

/** The box of the other run that corresponds to one of this run: on the line it corresponds to the one of the same type
 *  and name, or that alone has its name, or where as many are of its type; a parameter's is the one called alike. */
export function boxThere(told: Comparison, box: Box, here: Graph, there: Graph): Box | undefined {
  const ours = here.boxes.filter(({ span }) => span?.line === box.span?.line)
  const theirs = boxesAcross(told, box, there)
  const both = (other: Box): boolean => other.title === box.title && other.name === box.name
  const found = theirs.filter(both)[ours.filter(both).indexOf(box)]
  if (found || !box.span) return found
  for (const key of ['name', 'title'] as const) {
    const alike = [ours, theirs].map((boxes) => boxes.filter((other) => other[key] === box[key]))
    if (box[key] && alike[0]!.length === alike[1]!.length) return alike[1]![alike[0]!.indexOf(box)]
  }
  return undefined
}

/** The box to look at beside one of this run: what corresponds to it, or else the last on its line; where that line
 *  draws nothing, as one that made a frozen tensor, that of what it goes into. */
export function boxBeside(told: Comparison, box: Box, here: Graph, there: Graph): Box | undefined {
  const into = here.links.find(({ source, kind }) => source === box.id && kind === 'data')?.target
  const next = here.boxes.find(({ id }) => id === into)
  return boxThere(told, box, here, there) ?? (box.span && boxesAcross(told, box, there).at(-1)) ??
    (next && boxBeside(told, next, here, there))
}

/** What the other run draws of the line that a box's corresponds to; without a line what has none either. */
function boxesAcross(told: Comparison, { span }: Box, there: Graph): Box[] {
  const across = span ? lineThere(told, span.line) : undefined
  return there.boxes.filter(({ span }) => span?.line === across)
}

/** What is written beside ops: ≠ where results differ, + where the other run has no such op. */
export function opNotes(told: readonly Comparison[], side: 'here' | 'there'): Map<string, string> {
  const notes = new Map<string, string>()
  for (const comparison of told) {
    for (const pair of comparison.differing ?? []) notes.set(pair[side], '≠')
    for (const op of (side === 'here' ? comparison.only_here : comparison.only_there) ?? []) notes.set(op, '+')
  }
  return notes
}

/** Two values in a few letters; where those read the same, the elements that differ most, with as many digits as that
 *  takes, and their place, as `[1][0]`. */
export function inWords(here: Tensor, there: Tensor, brief: (tensor: Tensor) => string): [string, string, string] {
  const [x, y] = [brief(here), brief(there)]
  if (x !== y || count(here.shape) !== here.data?.length || here.data.length !== there.data?.length) return [x, y, '']
  const [a, b] = [here.data.map(wireNumber), there.data.map(wireNumber)]
  let most = 0
  a.forEach((value, at) => {
    if (Math.abs(value - b[at]!) > Math.abs(a[most]! - b[most]!)) most = at
  })
  for (let digits = 5; digits <= 17; digits += 1) {
    const [p, q] = [a[most]!.toPrecision(digits), b[most]!.toPrecision(digits)]
    const place = brackets(positions(here.shape, most))
    if (p !== q) return [p.replace('-', MINUS), q.replace('-', MINUS), place]
  }
  return [x, y, '']
}

/** Whether so little corresponds that comparing line by line says nothing. */
export function areStrangers(told: Comparison): boolean {
  const most = Math.max(told.here.ops, told.there.ops)
  return most > 0 && (told.matched ?? 0) < most / 4 && (told.matched ?? 0) < Math.min(told.here.ops, told.there.ops) / 2
}
