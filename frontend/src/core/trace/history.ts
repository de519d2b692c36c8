// What existed at a step: tensor records by birth, variables, `.grad`s and the ledger of every leaf.

import type { Accumulation, Pass, Tensor, Update, Variable, Write } from '../../api/types'
import { Bindings } from './bindings'
import { push, type TraceIndex } from './trace-index'
import { tensorName } from './naming'

export type Entry = (
  | { kind: 'pass'; step: number; pass: Pass; accumulation: Accumulation }
  | { kind: 'reset' | 'changed'; step: number; update: Update; before: string | null; after: string | null }
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

/** The `.grad` record that stood there before; null is None. */
export function beforeOf(entry: Entry): string | null {
  return entry.kind === 'pass' ? entry.accumulation.before : entry.before
}

export interface VariableThen {
  name: string
  variable: Variable
  tensor: Tensor | undefined
}

/** Classes whose values stay what they are. */
const UNCHANGING: ReadonlySet<string> = new Set(['int', 'float', 'complex', 'bool', 'str', 'bytes', 'NoneType'])

/** Whether a value stays what it is; of a tuple only numbers surely do. */
function isUnchanging({ type, text }: Variable): boolean {
  return UNCHANGING.has(type) || (type === 'tuple' && /^\([-+\d.e, ]*\)$/.test(text ?? ''))
}

/** The step of a write; undefined for one whose event was not kept. What no op and no update wrote, backward added. */
export function stepOfWrite(index: TraceIndex): (write: Write) => number | undefined {
  const updates = new Map(index.updatesInOrder.map(({ update, step }) => [update.id, step]))
  const added = new Map(
    [...index.accumulationsOf.values()].flat().map(({ accumulation, step }) => [accumulation.after, step]),
  )
  return ({ op, update, tensor }) =>
    index.stepOfOp.get(op ?? '') ?? updates.get(update ?? '') ?? (op ?? update ? undefined : added.get(tensor))
}

/** Facts about time that are worked out once for a trace. */
export class History {
  /** Step after which a tensor record exists; 0 for those that were there before the first step. */
  private readonly births = new Map<string, number>()
  private readonly statesOf = new Map<string, Tensor[]>()
  private readonly byName = new Map<string, Tensor[]>()
  /** By storage; the version is null where autograd did not count the write. */
  private readonly writesTo = new Map<string, { step: number; version: number | null }[]>()
  /** Leaves that may receive a gradient, in the order of meeting. */
  readonly accounts: readonly Account[]
  private readonly accountOf = new Map<string, Account>()

  private readonly globals: readonly Variable[]
  private readonly bindings: Bindings

  constructor(readonly index: TraceIndex) {
    const { trace } = index
    const named = (name: string): readonly Tensor[] => this.byName.get(name) ?? []
    this.bindings = new Bindings(index, (tensor) => this.birth(tensor), named)
    for (const op of trace.ops) {
      const step = index.stepOfOp.get(op.id)
      if (step !== undefined) for (const id of op.outputs) this.bear(id, step)
    }
    for (const { update, step } of index.updatesInOrder) {
      for (const change of [...update.changes, ...(update.state ?? [])]) {
        if (change.after && change.after !== change.before) this.bear(change.after, step)
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
    this.dateUnmade()
    this.globals = this.readGlobals()
    this.accounts = this.openAccounts()
    for (const account of this.accounts) this.accountOf.set(account.leaf, account)
  }

  /** States that no event made: another tensor wrote into the memory, and this one was met again later. */
  private dateUnmade(): void {
    const stepOf = stepOfWrite(this.index)
    for (const storage of this.index.trace.storages ?? []) {
      for (const write of storage.writes ?? []) {
        const step = stepOf(write)
        if (step !== undefined) push(this.writesTo, storage.id, { step, version: write.bumped ? write.version : null })
      }
    }
    const uses = new Map<string, number>()
    for (const op of this.index.trace.ops) {
      const step = this.index.stepOfOp.get(op.id) ?? 0
      for (const id of op.inputs) if (!uses.has(id)) uses.set(id, step)
    }
    let latest = 0
    for (const tensor of this.index.trace.tensors) {
      const born = this.births.get(tensor.id)
      const used = uses.get(tensor.id) ?? Infinity
      if (born !== undefined && used < born && tensor.identity != null)
        this.births.set(tensor.id, used - 1) // a closure saw it before the optimizer's step was told
      else if (born !== undefined) latest = Math.max(latest, born)
      else if (tensor.identity != null) this.births.set(tensor.id, this.writtenBy(tensor, latest, uses))
    }
  }

  /** The step of the write that gave a tensor the contents it had when it was met, after a step; where no write is
   *  known (an optimizer's, between two calls of its closure) the last step before it is used. */
  private writtenBy(tensor: Tensor, met: number, uses: ReadonlyMap<string, number>): number {
    const writes = this.writesTo.get(tensor.storage ?? '') ?? []
    const own = (version: number | null): boolean => version === null || version === (tensor.version ?? 0)
    const write = writes.findLast(({ step, version }) => step <= met && own(version))
    return write?.step ?? Math.max(met, (uses.get(tensor.id) ?? 0) - 1)
  }

  /** The state of a tensor, unless something wrote into its memory since and it was not looked at again. */
  private knownAt(tensor: string, step: number): Tensor | undefined {
    const state = this.stateAt(tensor, step)
    const states = this.statesOf.get(this.index.identity(tensor)) ?? []
    if (!state || state === states.at(-1)) return state
    const isStale = this.writesTo
      .get(state.storage ?? '')
      ?.some((write) => write.step > this.birth(state.id) && write.step <= step)
    return isStale ? undefined : state
  }

  /** The first event that tells of a state made it; an op may give back what it was given. */
  private bear(tensor: string, step: number): void {
    this.births.set(tensor, Math.min(step, this.births.get(tensor) ?? Infinity))
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

  /** The program's global names after `step` steps, as far as known. What they are bound to is told at the end: before
   *  that, a value that cannot change and the class of one that can stand where one statement alone binds the name. */
  variablesAt(step: number): VariableThen[] {
    const end = step >= this.index.trace.timeline.length
    const shown: VariableThen[] = []
    for (const variable of this.globals) {
      if (variable.kind === 'tensor') {
        const tensor = end && variable.tensor ? this.index.tensor(variable.tensor) : this.boundTo(variable, step)
        if (tensor) shown.push({ name: variable.name, variable, tensor })
      } else if (variable.kind === 'value' || variable.kind === 'module' || variable.kind === 'optimizer') {
        const known = end ? variable : this.sinceBound(variable, step)
        if (known) shown.push({ name: variable.name, variable: known, tensor: undefined })
      }
    }
    return shown
  }

  /** The `.grad` to show beside a tensor; undefined where there is nothing to say of one. */
  gradShownAt(tensor: Tensor, step: number): Tensor | null | undefined {
    if (!tensor.requires_grad || step === 0) return undefined
    if (tensor.is_leaf === false) return this.retainedAt(tensor, step)
    const account = this.account(tensor.id)
    if (!account) return undefined
    const grad = this.index.tensor(this.gradAt(tensor.id, step))
    return grad ?? (account.entries.every((entry) => entry.step > step) ? undefined : null)
  }

  /** What `retain_grad()` kept, which a trace tells at the end alone. */
  private retainedAt(tensor: Tensor, step: number): Tensor | undefined {
    const last = this.statesOf.get(this.index.identity(tensor.id))?.at(-1)
    return step < this.index.trace.timeline.length ? undefined : this.index.tensor(last?.grad)
  }

  private boundTo(variable: Variable, step: number): Tensor | undefined {
    const tensor = step > 0 ? this.bindings.at(variable, step) : null
    return tensor === null ? undefined : this.knownAt(tensor, step)
  }

  /** What is known of a variable before the end. A module may become one of another class, as a lazy one does. */
  private sinceBound(variable: Variable, step: number): Variable | undefined {
    const statement = this.bindings.boundBy(variable, step)
    if (!statement || (variable.kind === 'module' && !statement.text.split(/\W+/).includes(variable.type)))
      return undefined
    return isUnchanging(variable) ? variable : { ...variable, text: null }
  }

  /** Whether a function of the program runs at a step, whose own names are not told of. */
  isInFunction(step: number): boolean {
    return this.bindings.isInFunction(step)
  }

  /** A run that was killed cannot say its globals at the end: then the tensors' own names stand for them. */
  private readGlobals(): readonly Variable[] {
    const { trace } = this.index
    if (trace.variables.length > 0 || trace.status === 'ok') return trace.variables
    return [...this.byName.keys()]
      .filter((name) => /^[\p{L}_]\w*$/u.test(name))
      .map((name) => ({ name, kind: 'tensor', type: 'Tensor' }))
  }

  private openAccounts(): Account[] {
    const { index } = this
    const leafOfName = new Map<string, string>()
    for (const tensor of index.trace.tensors) {
      if (!tensor.requires_grad || tensor.is_leaf === false) continue
      for (const name of tensor.names ?? []) leafOfName.set(this.scoped(name, tensor), index.identity(tensor.id))
    }
    const lastOf = new Map(index.trace.tensors.map((tensor) => [index.identity(tensor.id), tensor]))
    /** What a call such as `jacobian` made on its way. */
    const inner = new Set(index.trace.ops.flatMap((op) => (op.inside ? op.outputs : [])))
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
      const list = this.withGaps(this.entriesOf(leaf))
      const name = tensorName(index, tensor)
      // else another leaf took its place, and none was to arrive
      const isInner = tensor.role !== 'parameter' && inner.has(leaf)
      const isCalled = (tensor.names ?? []).some((name) => leafOfName.get(this.scoped(name, tensor)) === leaf)
      if (list.length > 0 || (isCalled && !isInner && lastOf.get(leaf)?.requires_grad))
        accounts.set(leaf, { leaf, name, entries: list })
    }
    return [...accounts.values()]
  }

  private entriesOf(leaf: string): Entry[] {
    const added = (this.index.accumulationsOf.get(leaf) ?? []).map(
      ({ pass, accumulation, step }): Entry => ({ kind: 'pass', step, pass, accumulation }),
    )
    const set = (this.index.gradChangesOf.get(leaf) ?? []).map(
      ({ update, step, change: { before, after } }): Entry => ({
        kind: /zero|reset/.test(update.kind) ? 'reset' : 'changed', step, update, before, after,
      }),
    )
    // clipping also writes where the norm is small enough
    const told = set.filter((entry) => entry.kind !== 'changed' || this.differ(entry.before, entry.after) !== false)
    return [...added, ...told].sort((a, b) => a.step - b.step)
  }

  /** Whether what was kept of two records tells their contents apart; null where nothing was kept. */
  differ(one: string | null, other: string | null): boolean | null {
    const [a, b] = [one, other].map((id) => {
      const { data, summary, thumbnail } = this.index.tensor(id) ?? {}
      return JSON.stringify(data ?? (summary && [summary, thumbnail]))
    })
    return a === undefined || b === undefined ? null : a !== b
  }

  /** A name as one function of the program means it, and not another one. */
  private scoped(name: string, tensor: Tensor): string {
    return `${this.bindings.madeAt(tensor.id)?.function ?? 0} ${name}`
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
