// Two or three runs beside each other: the rows of their comparisons put together. The first run is A, the others B and
// C.

import type { Comparison, Difference, Named, Tensor } from '../../api/types'
import { MINUS, wireNumber } from '../words/format'

export function letter(at: number): string {
  return 'ABC'[at] ?? String(at + 1)
}

export interface TypeRow {
  type: string
  counts: number[]
}

/** Nodes by type; those of which the runs have different numbers come first. */
export function typeRows(all: readonly Comparison[]): TypeRow[] {
  const rows = new Map<string, number[]>()
  const of = (type: string): number[] => {
    const known = rows.get(type) ?? new Array<number>(all.length + 1).fill(0)
    rows.set(type, known)
    return known
  }
  all.forEach((told, at) => {
    for (const { type, here, there } of told.types) {
      const row = of(type)
      row[0] = here
      row[at + 1] = there
    }
  })
  const spread = ({ counts }: TypeRow): number => Math.max(...counts) - Math.min(...counts)
  return [...rows].map(([type, counts]) => ({ type, counts })).sort((a, b) => spread(b) - spread(a))
}

export interface TensorRow {
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
    for (const one of told.tensors) {
      let row = rows.get(one.name)
      if (!row) {
        row = {
          name: one.name, others: [], values: nothing(all.length + 1), differences: nothing(all.length),
          gradients: nothing(all.length + 1), gradientDifferences: nothing(all.length), made: isMade(one),
        }
        rows.set(one.name, row)
      }
      row.values[0] = one.here ?? row.values[0]!
      row.values[at + 1] = one.there ?? null
      row.gradients[0] = one.gradient_here ?? row.gradients[0]!
      row.gradients[at + 1] = one.gradient_there ?? null
      row.differences[at] = one.value ?? null
      row.gradientDifferences[at] = one.gradient ?? null
      if (one.name_there && !row.others.includes(one.name_there)) row.others.push(one.name_there)
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

export interface OpRow {
  name: string
  /** The line in A, or where no line there corresponds, the line in the run it is from. */
  line: number | null
  /** Which run's line it is. */
  of: number
  counts: number[]
  differing: number[]
}

/** Lines where numbers of ops or their results differ. */
export function opRows(all: readonly Comparison[]): OpRow[] {
  const rows = new Map<string, OpRow>()
  all.forEach((told, at) => {
    for (const one of told.ops ?? []) {
      const only = one.line == null && one.line_there != null
      const key = only ? `${at + 1} ${one.line_there} ${one.name}` : `0 ${one.line} ${one.name}`
      let row = rows.get(key)
      if (!row) {
        // a run whose comparison does not name this place has as many there as A
        row = {
          name: one.name, line: only ? one.line_there! : (one.line ?? null), of: only ? at + 1 : 0,
          counts: new Array<number>(all.length + 1).fill(one.here), differing: new Array<number>(all.length).fill(0),
        }
        rows.set(key, row)
      }
      row.counts[at + 1] = one.there
      row.differing[at] = one.differing ?? 0
    }
  })
  return [...rows.values()]
}

export interface PlainRow {
  name: string
  texts: (string | null)[]
}

/** Names bound to numbers, strings and the like, where a run has another value than A. */
export function plainRows(all: readonly Comparison[]): PlainRow[] {
  const rows = new Map<string, PlainRow>()
  all.forEach((told, at) => {
    for (const one of told.plain ?? []) {
      // a run whose comparison does not name it has the value of A
      const row = rows.get(one.name) ?? {
        name: one.name, texts: new Array<string | null>(all.length + 1).fill(one.here),
      }
      row.texts[at + 1] = one.there
      rows.set(one.name, row)
    }
  })
  return [...rows.values()]
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

/** What is written beside ops: ≠ where results differ, + where the other run has no such op. */
export function opNotes(told: readonly Comparison[], side: 'here' | 'there'): Map<string, string> {
  const notes = new Map<string, string>()
  for (const one of told) {
    for (const pair of one.differing ?? []) notes.set(pair[side], '≠')
    for (const op of (side === 'here' ? one.only_here : one.only_there) ?? []) notes.set(op, '+')
  }
  return notes
}

/** Two values in a few letters; where those read the same, the elements that differ most, with as many digits as that
 *  takes. */
export function inWords(here: Tensor, there: Tensor, brief: (tensor: Tensor) => string): [string, string] {
  const [x, y] = [brief(here), brief(there)]
  if (x !== y || !here.data || here.data.length !== there.data?.length) return [x, y]
  const [a, b] = [here.data.map(wireNumber), there.data.map(wireNumber)]
  let most = 0
  a.forEach((value, at) => {
    if (Math.abs(value - b[at]!) > Math.abs(a[most]! - b[most]!)) most = at
  })
  for (let digits = 5; digits <= 17; digits += 1) {
    const [p, q] = [a[most]!.toPrecision(digits), b[most]!.toPrecision(digits)]
    if (p !== q) return [p.replace('-', MINUS), q.replace('-', MINUS)]
  }
  return [x, y]
}

/** Whether so little corresponds that comparing line by line says nothing. */
export function areStrangers(told: Comparison): boolean {
  const most = Math.max(told.here.ops, told.there.ops)
  return most > 0 && (told.matched ?? 0) < most / 4 && (told.matched ?? 0) < Math.min(told.here.ops, told.there.ops) / 2
}

/** The run that a pasted text names: an id, or an address of the page, the API or an embed. */
export function runNamed(text: string): { run: string } | { lesson: string } | null {
  const plain = text.trim()
  const run = /[#&?]run=([\w-]+)/.exec(plain)?.[1] ?? /\/(?:runs|embed)\/([\w-]+)/.exec(plain)?.[1]
  if (run) return { run }
  const lesson = /[#&?]lesson=([\w-]+)/.exec(plain)?.[1]
  if (lesson) return { lesson }
  return /^[\w-]{8,64}$/.test(plain) ? { run: plain } : null
}
