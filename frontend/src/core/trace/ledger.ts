// The ledger as a table: leaves down, and across the passes with the resets and optimizer steps between them.

import type { Pass } from '../../api/types'
import { uniform } from '../words/display'
import type { Account, Entry, History } from './history'
import type { TraceIndex } from './trace-index'

export interface Column {
  kind: 'pass' | 'reset' | 'step'
  step: number
  pass?: Pass
}

export interface Cell {
  /** What stood there before a pass added to it; null where that was nothing or 0. */
  left: string | null
  /** What a pass added. */
  delta: string | null
  after: string | null
}

/** Leaves of one module. */
export interface LeafGroup {
  module: string
  accounts: Account[]
}

export class LedgerTable {
  readonly columns: readonly Column[]
  readonly groups: readonly LeafGroup[]
  private readonly index: TraceIndex
  private readonly entries = new Map<Account, ReadonlyMap<Column, Entry>>()
  private readonly stepped = new Map<number, ReadonlySet<string>>()

  constructor({ index, accounts }: History) {
    this.index = index
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
    if (entry.kind === 'reset') return { left: null, delta: null, after: entry.after }
    const { before, delta, after } = entry.accumulation
    return { left: this.isEmpty(before) ? null : before, delta, after }
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

/** By the module their names begin with, in the order of meeting. */
function grouped(accounts: readonly Account[]): LeafGroup[] {
  const groups = new Map<string, Account[]>()
  for (const account of accounts) {
    const module = account.name.includes('.') ? account.name.replace(/\.[^.]*$/, '') : ''
    groups.set(module, [...(groups.get(module) ?? []), account])
  }
  return [...groups].map(([module, accounts]) => ({ module, accounts }))
}
