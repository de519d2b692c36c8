// Memory that several tensors share: what was written into it, who saved which version of it, and what was still true
// when it was used.

import type { Node, Saved, Storage, Tensor, Write } from '../../api/types'
import { stepOfWrite, type History } from './history'
import { tensorName } from './naming'
import { push, type TraceIndex } from './trace-index'
import { usesOf } from './visits'

export interface WriteAt {
  write: Write
  /** 0 for one whose event was not kept. */
  step: number
}

/** A node that keeps a tensor of this storage for its backward. */
export interface SavedHere {
  node: Node
  saved: Saved
  tensor: Tensor
  /** Step of the op that saved it. */
  from: number
  /** Step of the visit that used it, or of the failure there; null when it was never used. */
  used: number | null
  /** `changed`: the version is another one, and PyTorch refuses; `silent`: the values are others all the same. */
  verdict: 'same' | 'changed' | 'silent' | 'unused'
  /** Version when it was used, or at the end. */
  now: number
}

export interface AliasGroup {
  storage: Storage
  /** The first record of each tensor in it. */
  tensors: readonly Tensor[]
  writes: readonly WriteAt[]
  /** Whether these are all writes: none was left out, and no turn of a loop. */
  isWhole: boolean
  saved: readonly SavedHere[]
  trouble: boolean
}

/** All alias groups, in the order of meeting; linear in the trace. */
export function aliasGroups(history: History): AliasGroup[] {
  const { index } = history
  const savedIn = new Map<string, { node: Node; saved: Saved; tensor: Tensor }[]>()
  for (const node of index.trace.nodes) {
    for (const saved of node.saved ?? []) {
      const tensor = index.tensor(saved.tensor)
      if (tensor?.storage != null) push(savedIn, tensor.storage, { node, saved, tensor })
    }
  }
  const stepOf = stepOfWrite(index)
  return (index.trace.storages ?? []).map((storage) => {
    const writes = (storage.writes ?? [])
      .map((write) => ({ write, step: stepOf(write) ?? 0 }))
      .sort((a, b) => a.step - b.step)
    const saved = (savedIn.get(storage.id) ?? []).map((kept) => judged(history, kept, writes))
    const tensors = storage.tensors.flatMap((id) => index.tensor(id) ?? [])
    return {
      storage, tensors, writes, saved,
      isWhole: !storage.writes_omitted && index.gaps.length === 0,
      trouble: saved.some((kept) => kept.verdict === 'changed' || kept.verdict === 'silent'),
    }
  })
}

function judged(
  history: History, { node, saved, tensor }: { node: Node; saved: Saved; tensor: Tensor }, writes: readonly WriteAt[],
): SavedHere {
  const { index } = history
  const from = (node.op != null ? index.stepOfOp.get(node.op) : undefined) ?? 0
  const uses = isIgnored(node, saved) ? [] : usesOf(index, node)
  const later = writes.filter((write) => write.step > from && write.step <= (uses.at(-1) ?? Infinity))
  const before = saved.version ?? 0
  const seen = later.filter((later) => later.write.bumped && later.write.version > before)
  const changed = uses.find((use) => seen.some(({ step }) => step <= use))
  const silent = uses.find((use) => {
    const write = later.findLast(({ write, step }) => !write.bumped && step <= use)
    return write && isAnother(history, tensor, write, use)
  })
  const used = changed ?? silent ?? uses[0] ?? null
  const verdict =
    used === null ? 'unused' : changed !== undefined ? 'changed' : silent !== undefined ? 'silent' : 'same'
  const now = seen.findLast(({ step }) => step <= (used ?? Infinity))?.write.version ?? before
  return { node, saved, tensor, from, used, verdict, now }
}

/** Whether a node surely meets other values than it saved: a write may put back what stood there. */
function isAnother(history: History, saved: Tensor, { write, step }: WriteAt, use: number): boolean {
  const [state, written] = [history.stateAt(saved.id, use), history.index.tensor(write.tensor)]
  if (state && history.birth(state.id) >= step) return history.differ(saved.id, state.id) === true
  return areSameCells(history.index, saved, written) && history.differ(saved.id, write.tensor) === true
}

/** Whether two tensors of one storage surely are the same cells of it, which is all there are. */
function areSameCells(index: TraceIndex, saved: Tensor, other: Tensor | undefined): boolean {
  const laid = ({ shape, strides }: Tensor): string => JSON.stringify([shape, strides])
  const whole = index.trace.storages?.find(({ id }) => id === saved.storage)?.size_bytes
  return saved.size_bytes === whole && other !== undefined && laid(saved) === laid(other)
}

/** Running statistics: a node that normalized by the batch keeps them and does not look at them. */
function isIgnored({ saved }: Node, { field }: Saved): boolean {
  return field.startsWith('running_') && !!saved?.some(({ field, text }) => field === 'training' && text === 'True')
}

/** What optimizers keep of parameters, by identity: `exp_avg` of `net.weight`, as `net.weight · exp_avg`. */
export function stateNames(index: TraceIndex): ReadonlyMap<string, string> {
  const kept = index.trace.updates.flatMap((update) => update.state ?? [])
  return new Map(kept.flatMap((change) => {
    const tensor = change.after ?? change.before
    const owner = index.tensor(change.parameter)
    return tensor != null && owner ? [[index.identity(tensor), `${tensorName(index, owner)} · ${change.name}`]] : []
  }))
}

/** How a tensor came to share this memory. */
export function relationOf(index: TraceIndex, tensor: Tensor): 'own' | 'view' | 'detach' | 'alias' {
  if (tensor.base != null) return 'view'
  const op = index.producer(tensor.id)
  if (op?.name === 'detach' || op?.name === 'detach_') return 'detach'
  return op && op.inputs.some((id) => index.tensor(id)?.storage === tensor.storage) ? 'alias' : 'own'
}
