// What existed at a step: tensor records by birth, variables, `.grad`s and the ledger of every leaf.

import type { Accumulation, Pass, Tensor, Update, Variable } from '../../api/types'
import { push, type TraceIndex } from './trace-index'
import { tensorName } from './naming'

export type Entry = (
  | { kind: 'pass'; step: number; pass: Pass; accumulation: Accumulation }
  | { kind: 'reset'; step: number; update: Update; before: string | null; after: string | null }
) & {
  /** Passes that were left out since the entry before. */
  gap?: number
}

export interface Account {
  /** Identity of the leaf. */
  leaf: string
  name: string
  entries: readonly Entry[]
}

export interface VariableThen {
  name: string
  variable: Variable
  tensor: Tensor | undefined
}

/** Facts about time that are worked out once for a trace. */
export class History {
  /** Step after which a tensor record exists; 0 for those that were there before the first step. */
  private readonly births = new Map<string, number>()
  private readonly statesOf = new Map<string, Tensor[]>()
  private readonly byName = new Map<string, Tensor[]>()
  /** Leaves that may receive a gradient, in the order of meeting. */
  readonly accounts: readonly Account[]
  private readonly accountOf = new Map<string, Account>()

  constructor(readonly index: TraceIndex) {
    const { trace } = index
    for (const op of trace.ops) {
      const step = index.stepOfOp.get(op.id)
      if (step !== undefined) for (const id of op.outputs) if (!this.births.has(id)) this.births.set(id, step)
    }
    for (const { update, step } of index.updatesInOrder) {
      for (const change of [...update.changes, ...(update.state ?? [])]) {
        if (change.after && change.after !== change.before && !this.births.has(change.after))
          this.births.set(change.after, step)
      }
    }
    for (const hook of trace.hooks ?? []) {
      const step = index.stepOfHook.get(hook.id)
      if (hook.after && step !== undefined && !this.births.has(hook.after)) this.births.set(hook.after, step)
    }
    for (const list of index.accumulationsOf.values()) {
      for (const { accumulation, step } of list)
        if (accumulation.after && !this.births.has(accumulation.after)) this.births.set(accumulation.after, step)
    }
    for (const tensor of trace.tensors) {
      push(this.statesOf, index.identity(tensor.id), tensor)
      for (const name of tensor.names ?? []) if (!name.includes('.')) push(this.byName, name, tensor)
    }
    let latest = 0
    for (const tensor of trace.tensors) {
      const born = this.births.get(tensor.id)
      if (born !== undefined) latest = Math.max(latest, born)
      else if (tensor.identity != null) this.births.set(tensor.id, latest) // a state whose maker was left out
    }
    this.accounts = this.openAccounts()
    for (const account of this.accounts) this.accountOf.set(account.leaf, account)
  }

  birth(tensor: string): number {
    return this.births.get(tensor) ?? 0
  }

  /** The state a tensor object had after `step` steps: its latest record born by then. */
  stateAt(tensor: string, step: number): Tensor | undefined {
    const states = this.statesOf.get(this.index.identity(tensor)) ?? []
    let found: Tensor | undefined
    for (const state of states) if (this.birth(state.id) <= step) found = state
    return found ?? states[0]
  }

  account(leaf: string): Account | undefined {
    return this.accountOf.get(this.index.identity(leaf))
  }

  /** The `.grad` of a leaf after `step` steps; null is None. */
  gradAt(leaf: string, step: number): string | null {
    let grad: string | null = null
    for (const entry of this.account(leaf)?.entries ?? []) {
      if (entry.step <= step) grad = entry.kind === 'pass' ? entry.accumulation.after : entry.after
    }
    return grad
  }

  /** The program's global names after `step` steps. Plain values are known only at the end. */
  variablesAt(step: number): VariableThen[] {
    const { trace } = this.index
    const end = step >= trace.timeline.length
    const shown: VariableThen[] = []
    for (const variable of this.globals()) {
      if (variable.kind === 'tensor') {
        const tensor = this.namedAt(variable.name, step) ?? (end ? this.index.tensor(variable.tensor) : undefined)
        if (tensor) shown.push({ name: variable.name, variable, tensor })
      } else if (end && (variable.kind === 'value' || variable.kind === 'module' || variable.kind === 'optimizer')) {
        shown.push({ name: variable.name, variable, tensor: undefined })
      }
    }
    return shown
  }

  /** A run that was killed cannot say its globals at the end: then the tensors' own names stand for them. */
  private globals(): readonly Variable[] {
    const { trace } = this.index
    if (trace.variables.length > 0 || trace.status === 'ok') return trace.variables
    return [...this.byName.keys()]
      .filter((name) => /^[\p{L}_]\w*$/u.test(name))
      .map((name) => ({ name, kind: 'tensor', type: 'Tensor' }))
  }

  private namedAt(name: string, step: number): Tensor | undefined {
    let found: Tensor | undefined
    let born = -1
    for (const tensor of this.byName.get(name) ?? []) {
      const at = this.birth(tensor.id)
      if (at <= step && at >= born && (at > 0 || step > 0)) {
        found = tensor
        born = at
      }
    }
    return found ? (this.stateAt(found.id, step) ?? found) : undefined
  }

  private openAccounts(): Account[] {
    const { index } = this
    const entries = new Map<string, Entry[]>()
    const leafOfGrad = new Map<string, string>()
    for (const [leaf, list] of index.accumulationsOf) {
      for (const { pass, accumulation, step } of list) {
        push<string, Entry>(entries, leaf, { kind: 'pass', step, pass, accumulation })
        if (accumulation.after) leafOfGrad.set(index.identity(accumulation.after), leaf)
      }
    }
    const leafOfName = new Map<string, string>()
    for (const tensor of index.trace.tensors) {
      if (!tensor.requires_grad || tensor.is_leaf === false) continue
      for (const name of tensor.names ?? []) leafOfName.set(name, index.identity(tensor.id))
    }
    for (const { update, step } of index.updatesInOrder) {
      if (update.kind !== 'zero_grad' && update.kind !== 'grad_reset' && update.kind !== 'grad_set') continue
      for (const change of update.changes) {
        const grad = change.before ?? change.after
        const named = change.name ? leafOfName.get(change.name.replace(/\.grad$/, '')) : undefined
        const leaf = named ?? (grad ? leafOfGrad.get(index.identity(grad)) : undefined)
        if (leaf)
          push<string, Entry>(entries, leaf, {
            kind: 'reset', step, update, before: change.before, after: change.after,
          })
      }
    }
    const lastOf = new Map(index.trace.tensors.map((tensor) => [index.identity(tensor.id), tensor]))
    const accounts = new Map<string, Account>()
    for (const tensor of index.trace.tensors) {
      const leaf = index.identity(tensor.id)
      if (
        accounts.has(leaf) ||
        !tensor.requires_grad ||
        tensor.is_leaf === false ||
        tensor.role === 'gradient' ||
        tensor.role === 'state'
      )
        continue
      const list = this.withGaps((entries.get(leaf) ?? []).sort((a, b) => a.step - b.step))
      const name = tensorName(index, tensor)
      // else another leaf took its place, and none was to arrive
      const isCalled = (tensor.names ?? []).some((one) => leafOfName.get(one) === leaf)
      if (list.length > 0 || (isCalled && lastOf.get(leaf)?.requires_grad))
        accounts.set(leaf, { leaf, name, entries: list })
    }
    return [...accounts.values()]
  }

  private withGaps(entries: Entry[]): Entry[] {
    const gaps = this.index.gaps
    if (gaps.length === 0) return entries
    let at = gaps.findIndex(({ step }) => step > (entries[0]?.step ?? Infinity))
    if (at < 0) return entries
    return entries.map((entry) => {
      let gap = 0
      for (; at < gaps.length && gaps[at]!.step < entry.step; at += 1) gap += gaps[at]!.gap.passes
      return gap > 0 ? { ...entry, gap } : entry
    })
  }
}
