// Memory that several tensors share: what was written into it, who saved which version of it, and what was still true
// when it was used.

import type { Node, Saved, Storage, Tensor, Write } from '../../api/types'
import { stepOfWrite } from './history'
import { tensorName } from './naming'
import { push, type TraceIndex } from './trace-index'

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
  /** Writes between saving and use. */
  writes: readonly WriteAt[]
  /** `changed`: the version is another one, and PyTorch refuses; `silent`: only writes autograd cannot see came
   *  between. */
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
export function aliasGroups(index: TraceIndex): AliasGroup[] {
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
    const saved = (savedIn.get(storage.id) ?? []).map((kept) => judged(index, kept, writes))
    const tensors = storage.tensors.flatMap((id) => index.tensor(id) ?? [])
    return {
      storage, tensors, writes, saved,
      isWhole: !storage.writes_omitted && index.gaps.length === 0,
      trouble: saved.some((kept) => kept.verdict === 'changed' || kept.verdict === 'silent'),
    }
  })
}

function judged(
  index: TraceIndex, { node, saved, tensor }: { node: Node; saved: Saved; tensor: Tensor },
  writes: readonly WriteAt[],
): SavedHere {
  const from = (node.op != null ? index.stepOfOp.get(node.op) : undefined) ?? 0
  const used = useOf(index, node)
  const until = used ?? Infinity
  const later = writes.filter((write) => write.step > from && write.step <= until)
  const before = saved.version ?? 0
  const seen = later.filter((later) => later.write.bumped && later.write.version > before)
  const now = seen.at(-1)?.write.version ?? before
  const verdict =
    used === null
      ? 'unused'
      : seen.length > 0 ? 'changed' : later.some(({ write }) => !write.bumped) ? 'silent' : 'same'
  return { node, saved, tensor, from, used, writes: later, verdict, now }
}

/** The first visit of a node, or the end of the pass that failed in it. */
function useOf(index: TraceIndex, node: Node): number | null {
  const visits = (index.visitsOfNode.get(node.id) ?? []).map((visit) => visit.step)
  const failures = index.trace.passes.flatMap((pass) => (pass.failed_node === node.id ? [index.passEnd(pass.id)] : []))
  const all = [...visits, ...failures].filter((step) => step > 0)
  return all.length > 0 ? Math.min(...all) : null
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
