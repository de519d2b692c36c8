// The ledger as a table: leaves down, and across the passes with the resets and optimizer steps between them.

import type { Pass, Tensor } from '../../api/types'
import { normOf, uniform } from '../words/display'
import { beforeOf, type Account, type Entry, type History } from './history'
import { push, type TraceIndex } from './trace-index'

export interface Column {
  kind: 'pass' | 'reset' | 'changed' | 'step'
  step: number
  pass?: Pass
}

export interface Cell {
  /** When it happened to this leaf. */
  step: number
  /** What stood there before a pass added to it; null where that was nothing or 0. */
  left: string | null
  /** What a pass added. */
  delta: string | null
  after: string | null
}

/** Leaves whose names begin alike; those with plain names have no module. */
export interface LeafGroup {
  module: string
  accounts: Account[]
}

/** So many groups stand under one another before whole blocks of a model become one group each. */
const MOST_GROUPS = 24

export class LedgerTable {
  readonly columns: readonly Column[]
  readonly groups: readonly LeafGroup[]
  private readonly index: TraceIndex
  private readonly history: History
  private readonly entries = new Map<Account, ReadonlyMap<Column, Entry>>()
  private readonly stepped = new Map<number, ReadonlySet<string>>()

  constructor(history: History) {
    const { index, accounts } = history
    this.index = index
    this.history = history
    const columns = new Map<string, Column>()
    const keyOf = new Map<Entry, string>()
    for (const { entries } of accounts) {
      for (const entry of entries) {
        const isPass = entry.kind === 'pass'
        const key = isPass ? entry.pass.id : entry.update.id
        const step = isPass ? Math.max(entry.step, columns.get(key)?.step ?? 0) : entry.step
        columns.set(key, { kind: entry.kind, step, ...isPass ? { pass: entry.pass } : {} })
        keyOf.set(entry, key)
      }
    }
    for (const { update, step } of index.updatesInOrder) {
      if (update.kind !== 'step') continue
      columns.set(update.id, { kind: 'step', step })
      this.stepped.set(step, new Set(update.changes.map(({ before, after }) => index.identity(after ?? before ?? ''))))
    }
    this.columns = [...columns.values()].sort((a, b) => a.step - b.step)
    for (const account of accounts)
      this.entries.set(account, new Map(account.entries.map((entry) => [columns.get(keyOf.get(entry)!)!, entry])))
    this.groups = grouped(accounts)
  }

  /** What happened to a leaf's gradient there; null for nothing. */
  cell(account: Account, column: Column): Cell | null {
    const entry = this.entries.get(account)?.get(column)
    if (!entry) return null
    if (entry.kind !== 'pass') return { step: entry.step, left: null, delta: null, after: entry.after }
    const { before, delta, after } = entry.accumulation
    return { step: entry.step, left: this.isEmpty(before) ? null : before, delta, after }
  }

  /** Whether a leaf's `.grad` is known to be None after a pass that added nothing to it. */
  isNone(account: Account, { kind, step }: Column): boolean {
    const born = this.history.birth(account.leaf)
    if (kind !== 'pass' || step < born || this.history.gradAt(account.leaf, step) !== null) return false
    const last = account.entries.findLast((entry) => entry.step <= step)
    const next = account.entries.find((entry) => entry.step > step)
    const isGap = this.index.gaps.some((gap) => (last?.step ?? born) < gap.step && gap.step <= step)
    return !isGap && (last !== undefined || next === undefined || beforeOf(next) === null)
  }

  /** Whether an optimizer's step changed a leaf. */
  isStepped(account: Account, column: Column): boolean {
    return this.stepped.get(column.step)?.has(account.leaf) ?? false
  }

  private isEmpty(id: string | null): boolean {
    const tensor = this.index.tensor(id)
    return !tensor || uniform(tensor) === 0
  }
}

/** By the module their names begin with, in the order of meeting; of a large model by the finest level of its tree
 *  that is still few groups. */
export function grouped(accounts: readonly Account[], most = MOST_GROUPS): LeafGroup[] {
  const paths = accounts.map((account) => ({ account, modules: modulesOf(account.name) }))
  const deepest = Math.max(1, ...paths.map(({ modules }) => modules.length))
  for (let depth = deepest; ; depth -= 1) {
    const groups = new Map<string, Account[]>()
    for (const { account, modules } of paths) push(groups, modules.slice(0, depth).at(-1) ?? '', account)
    if (groups.size <= most || depth === 1)
      return [...groups].map(([module, accounts]) => ({ module, accounts }))
  }
}

/** What a leaf's name is inside the modules it is in, the outermost first: of `a.0.w` those are `a` and `a.0`. */
function modulesOf(name: string): string[] {
  return [...name.matchAll(/[.[]/g)].filter(({ index }) => index > 0).map(({ index }) => name.slice(0, index))
}

/** A leaf's name inside its module. */
export function nameWithin(module: string, name: string): string {
  return module ? name.slice(module.length).replace(/^\./, '') : name
}

/** The norm over tensors taken together, null for none that is known. */
export function normOver(tensors: readonly (Tensor | undefined)[]): number | null {
  const known = tensors.filter((tensor) => tensor !== undefined)
  return known.length > 0 ? Math.hypot(...known.map(normOf)) : null
}

/** At most so many of what stands in the order of steps: those around a step. */
export function around<T extends { step: number }>(all: readonly T[], step: number, most: number): readonly T[] {
  const passed = all.filter((one) => one.step <= step).length
  const from = Math.max(0, Math.min(passed - most / 2, all.length - most))
  return all.slice(from, from + most)
}
