// The timeline in words: what happened at a step.

import type { Batch, Gap, HookCall, Node, Op, Reduction, Step, Tensor, Update, Visit } from '../../api/types'
import { exchangedBy, exchangedIn, listed, type Exchanged } from './collectives'
import { brief as briefTerm, briefs } from '../words/display'
import { fillingAt } from './filling'
import { formatShape, lettersOf, plus, wireNumber } from '../words/format'
import type { TraceIndex } from './trace-index'
import type { Words } from '../words/sentences'
import {
  brief, codeAt, codeOf, edgeName, memberName, nodeName, opName, passName, receiverName, tensorName,
} from './naming'
import { batchAt, samplesOf } from './batches'
import { isEnough } from './steps'

export interface Told {
  /** The sentence, without its value. */
  text: string
  /** The numbers it ends in. */
  value: string
  tone: 'plain' | 'gradient' | 'error'
}

const told = (text: string, value = '', tone: Told['tone'] = 'plain'): Told => ({ text, value, tone })

/** `2.25 + 2.25 → 4.5`, in two lines; more than three terms are counted, and norms, which do not add up. */
function sumText(
  index: TraceIndex, terms: readonly (string | null)[], total: string | null, t: Words,
): string {
  const few = terms.length <= 3 ? terms : terms.slice(0, 2)
  const [sum, ...parts] = briefs([total, ...few].map((id) => index.tensor(id)), 72)
  const more = terms.length - few.length
  const isNormed = parts.some((part) => part?.includes('‖'))
  const n = terms.filter(Boolean).length
  if (isNormed && n < 2) return sum ?? ''
  const told = [...parts.map((part) => part ?? 'None'), ...more > 0 ? [t('graph.more', { n: more })] : []]
  return `${isNormed ? t('graph.gradients', { n }) : plus(told)}${sum ? ` → ${sum}` : ''}`
}

/** A tensor, or what it became, told alike; where both are written the same, with what was added: `3 + 1e−5 → 3`. */
function numbers(index: TraceIndex, ...ids: (string | null | undefined)[]): string {
  const tensors = ids.map((id) => index.tensor(id))
  const [before = 'None', ...rest] = briefs(tensors).map((text) => text ?? 'None')
  const added = before === rest[0] && !before.startsWith('‖') && difference(tensors[0], tensors[1])
  return [added ? plus([before, added]) : before, ...rest].join(' → ')
}

/** By how much the elements differ; nothing where they don't, or are not known. */
function difference(before: Tensor | undefined, after: Tensor | undefined): string {
  const held = before?.data
  if (!held || !after?.data || after.dtype.startsWith('complex')) return ''
  const exact = after.dtype === 'float32' ? Math.fround : Number
  const data = after.data.map((value, at) => exact(wireNumber(value)) - exact(wireNumber(held[at]!)))
  return data.some((value) => Math.abs(value) > 0) ? brief({ ...after, data, summary: null }) : ''
}

export function tell(index: TraceIndex, number: number, t: Words): Told {
  const step = index.event(number)
  if (!step) return told(t('step.start'))
  const filling = fillingAt(index, number)
  if (filling?.last === number) return told(t('step.filled', { code: filling.code, n: filling.n }))
  const op = index.op(step.op)
  const isAll = op?.collective != null && isMeeting(index, op) && isFirst(index, op)
  const rank = isAll ? null : rankOf(index, step)
  const happened = tellStep(index, step, t)
  return rank == null ? happened : { ...happened, text: `rank ${rank} · ${happened.text}` }
}

/** The rank whose step it is, in a program of several. */
export function rankOf(index: TraceIndex, step: Step): number | null | undefined {
  if (step.op) return index.op(step.op)?.rank
  if (step.update) return index.updates.get(step.update)?.rank
  if (step.pass) return index.passes.get(step.pass)?.rank
  if (step.kind === 'batch') return batchAt(index.trace, step)?.rank
  if (step.kind === 'output') return index.trace.output[step.index ?? -1]?.rank
  if (step.kind === 'warning') return index.trace.warnings[step.index ?? -1]?.rank
  return step.call ? index.op(index.calls.get(step.call)?.first_op)?.rank : undefined
}

function tellStep(index: TraceIndex, step: Step, t: Words): Told {
  switch (step.kind) {
    case 'op':
      return tellOp(index, step, t)
    case 'pass':
    case 'pass_end':
    case 'seed':
    case 'visit':
    case 'sum':
    case 'reduce':
    case 'accumulate':
      return tellBackward(index, step, t)
    case 'hook':
      return step.hook ? tellHook(index, step.hook, t) : tellBackward(index, step, t)
    case 'call':
    case 'call_end':
      return tellCall(index, step, t)
    case 'update':
    case 'reset':
      return tellUpdate(index, step, t)
    case 'batch':
      return tellBatch(batchAt(index.trace, step), t)
    case 'output':
      return told(t('step.output'), oneLine(index.trace.output[step.index ?? 0]?.text ?? ''))
    case 'warning':
      return told(t('step.warning'), oneLine(index.trace.warnings[step.index ?? 0]?.message ?? ''))
    case 'failure':
      return told(t('step.failure'), failureLine(index, t), 'error')
    case 'gap':
      return tellGap(index.trace.gaps?.[step.index ?? -1], t)
  }
}

/** Samples that a batch is made of, or that were dropped. */
function tellBatch(batch: Batch | undefined, t: Words): Told {
  if (!batch) return told('')
  const { epoch, number } = batch
  return told(t(number === 0 ? 'step.batch_dropped' : 'step.batch', { epoch, number }), samplesOf(batch, 10))
}

/** Turns of a long loop that were left out. */
function tellGap(gap: Gap | undefined, t: Words): Told {
  if (!gap) return told('')
  const { first, last, passes, ops } = gap
  if (first == null || last == null) return told(t('step.gap_ops', { ops }))
  return told(t('step.gap', { passes, first, last }), t('step.gap_ops', { ops }))
}

function failureLine(index: TraceIndex, t: Words): string {
  const { failure } = index.trace
  if (failure?.limit) return t('limit', { name: t(`limit.${failure.limit}`) })
  return failure ? oneLine(`${failure.type}: ${failure.message}`) : ''
}

/** The first line of a text, with a mark where that is not all. */
function oneLine(text: string): string {
  const [line = '', ...more] = lettersOf(text).trim().split('\n')
  if (line.length > 120) return `${line.slice(0, 119)}…`
  return more.length > 0 ? `${line} …` : line
}

function tellOp(index: TraceIndex, step: Step, t: Words): Told {
  const op = index.op(step.op)
  if (!op) return told('')
  // What worked inside a call, as the `+` of `sum(xs)`.
  const own = codeOf(index, op)
  const code = op.inside && own === op.name
    ? `${index.modules.get(op.module!)?.path ?? codeAt(index.trace.program.code, op.span, 28)} · ${own}`
    : own
  const given = opName(index, op)
  const name = given === own ? (op.in_place && memberName(index, index.tensor(op.outputs[0]))) || code : given
  if (isEnough(index, op)) return told(t('step.call_enough', { name }), '', 'plain')
  if (op.raised) return told(t('step.op_raised', { name }), '', 'error')
  const results = (op.name === 'item' ? op.inputs : op.outputs).flatMap((id) => index.tensor(id) ?? [])
  if (op.collective) return tellCollective(index, op, t)
  const asked = [op.inputs, op.outputs].map((ids) => ids.some((id) => index.tensor(id)?.requires_grad))
  const isOff = (op.grad_mode ?? 'grad') !== 'grad'
  const recorded = op.nodes.length > 0 || (!asked[0] && !isOff) || asked[1]
  // The step after it tells what the write changed.
  if (index.trace.timeline[index.stepOfOp.get(op.id) ?? 0]?.op === op.id)
    return told(t('step.op', { name: code }).replace(/[:：]$/, ''))
  if (op.name === 'requires_grad_') return told([...new Set([code, name])].join(' · '))
  const isPut = op.name === 'setitem'
  const text = op.in_place
    ? t('step.update.in_place', { name: isPut ? code : name })
    : t(op.inputs.length === 0 ? 'step.op_made' : recorded ? 'step.op' : 'step.op_ghost', { name })
  const value = isPut ? putBy(index, op) : changeBy(index, op) ?? (results[0] && listed(results, brief, t('step.and')))
  return value ? told(text, value) : told(text.replace(/[:：]$/, ''))
}

/** The value of `x[i] = value`; what the op gives is all of `x`. */
function putBy(index: TraceIndex, op: Op): string {
  const { tensor, text } = op.arguments.at(-1)!
  const value = index.tensor(tensor)
  const change = augmented(index, op)
  return (change && changeBy(index, change)) || (value ? brief(value) : (text ?? ''))
}

/** What changed the part that is put back to where it is, as the `+=` of `x[i] += 1`. */
export function augmented(index: TraceIndex, put: Op): Op | undefined {
  const change = put.name === 'setitem' ? index.producer(put.arguments.at(-1)?.tensor ?? '') : undefined
  const [part, whole] = [put.span, change?.span]
  const isOne = part && whole && part.line === whole.line && part.column === whole.column
  return change?.in_place && isOne ? change : undefined
}

/** `4 → 40`, of an op that changed its first input in place. */
function changeBy(index: TraceIndex, { in_place, inputs: [before], outputs: [after] }: Op): string | undefined {
  if (!in_place || !before || !after || before === after) return undefined
  return index.identity(before) === index.identity(after) ? numbers(index, before, after) : undefined
}

/** Told once, at the first rank's step; a message at both ends. */
function tellCollective(index: TraceIndex, op: Op, t: Words): Told {
  const { name } = op
  const ends = ({ gave, got }: Exchanged): string =>
    [gave, got].map((tensors) => listed(tensors, briefTerm, t('step.and'))).join(' → ')
  if (!isMeeting(index, op)) return told(t('step.op', { name }), ends(exchangedBy(index, op)))
  if (!isFirst(index, op)) return told(t('step.collective_over', { name }))
  const met = exchangedIn(index, op)
  return told(t('step.collective', { name }), met.map((one) => `rank ${one.op.rank}: ${ends(one)}`).join('; '))
}

function isMeeting(index: TraceIndex, { collective, name }: Op): boolean {
  return index.trace.ops.every((other) => other.collective !== collective || other.name === name)
}

function isFirst(index: TraceIndex, op: Op): boolean {
  return index.trace.ops.find(({ collective }) => collective === op.collective) === op
}

function tellBackward(index: TraceIndex, step: Step, t: Words): Told {
  const pass = step.pass ? index.passes.get(step.pass) : undefined
  if (!pass) return told('')
  if (step.kind === 'pass')
    return told(t('step.pass'), codeAt(index.trace.program.code, pass.span) || passName(pass, t))
  if (step.kind === 'pass_end') {
    const values = { pass: passName(pass, t), failed: Number(pass.failed), caught: Number(!!pass.caught) }
    return told(t('step.pass_end', values), pass.caught ? oneLine(`${pass.caught.type}: ${pass.caught.message}`) : '')
  }
  if (step.kind === 'seed') {
    const root = pass.roots[step.root ?? 0]
    const name = tensorName(index, index.tensor(root?.tensor)) || nodeName(index, index.node(root?.node))
    return told(t('step.seed', { name }), numbers(index, root?.seed), 'gradient')
  }
  if (step.kind === 'accumulate') {
    const added = pass.accumulations[step.accumulation ?? 0]
    const name = tensorName(index, index.tensor(added?.tensor))
    return added
      ? told(
          t('step.accumulate', { name }), sumText(index, [added.before, added.delta], added.after, t), 'gradient',
        )
      : told(name)
  }
  const visit = pass.visits[step.visit ?? 0]
  const name = nodeName(index, index.node(visit?.node))
  if (step.kind === 'visit') return tellVisit(index, visit, name, t)
  if (step.kind === 'reduce') {
    const reduction = visit && reductionOf(visit, step.slot)
    const edge = index.node(visit?.node)?.edges[reduction?.slot ?? -1]
    return reduction
      ? told(
          t('step.reduce', {
            name: edgeName(index, edge), axes: reduction.axes.join(t('step.and')), n: reduction.axes.length,
            shapes: reducedShapes(index, visit, reduction),
          }),
          numbers(index, visit.left[reduction.slot]),
          'gradient',
        )
      : told(name)
  }
  const sum = visit?.sums?.find((sum) => sum.input_nr === (step.input_nr ?? 0)) ?? visit?.sums?.[0]
  if (!sum) return told(name)
  const summed = nodeName(index, index.node(visit?.node), sum.input_nr)
  if (step.kind === 'hook')
    return told(t('step.hook', { name: summed }), numbers(index, sum.total, sum.entered), 'gradient')
  const terms = sum.terms.map((term) => term.tensor)
  return told(t('step.sum', { name: summed }), sumText(index, terms, sum.total, t), 'gradient')
}

function tellVisit(index: TraceIndex, visit: Visit | undefined, name: string, t: Words): Told {
  const { received, sent } = exchangeOf(index, visit)
  if (received.length === 0) return told(t('step.visit_none', { name }))
  const all = (texts: readonly string[]): string => texts.join(t('step.and'))
  const arrived = all(received.map((tensor) => brief(tensor)))
  const from = index.node(visit?.node)
  const to = (slot: number): string => receiverName(index, from!.edges[slot]!, from)
  const summed = (visit?.reduced ?? []).map(({ shape, slot }) =>
    t('step.visit_sums', { shape: formatShape(shape), name: to(slot) }))
  const left = [...sent.map(({ tensor, slot }) => `${brief(tensor)} → ${to(slot)}`), ...summed]
  if (left.length > MOST_SENT) left.splice(MOST_SENT, Infinity, t('graph.more', { n: left.length - MOST_SENT }))
  const value = left.length === 0 ? arrived : t('step.visit_sends', { received: arrived, sent: all(left) })
  return told(t('step.visit', { name }), value, 'gradient')
}

const MOST_SENT = 3

/** What the sentence of a visit speaks of; a gradient still to be summed over broadcast axes is told at that step. */
export function exchangeOf(
  index: TraceIndex, visit: Visit | undefined,
): { received: Tensor[]; sent: { tensor: Tensor; slot: number; to: Node | undefined }[] } {
  const tensors = (ids: readonly (string | null)[]): Tensor[] => ids.flatMap((id) => index.tensor(id) ?? [])
  const edges = index.node(visit?.node)?.edges ?? []
  const sent = edges.flatMap((edge, slot) => {
    const tensor = index.tensor(visit?.left[slot])
    return tensor && edge.to && !reductionOf(visit!, slot) ? [{ tensor, slot, to: index.node(edge.to) }] : []
  })
  return { received: tensors(visit?.entered ?? []), sent }
}

export function reductionOf(visit: Visit, slot: number | null | undefined): Reduction | undefined {
  return visit.reduced?.find((reduction) => reduction.slot === slot)
}

/** `4×3 → 3`: the gradient's shape before and after the sum. */
export function reducedShapes(index: TraceIndex, visit: Visit, reduction: Reduction): string {
  const after = index.tensor(visit.left[reduction.slot])
  return `${formatShape(reduction.shape)} → ${after ? formatShape(after.shape) : '·'}`
}

/** What a hook is on: its tensor, its module, or what its node computed. */
export function hookPlace(index: TraceIndex, hook: HookCall): string {
  if (hook.tensor) return tensorName(index, index.tensor(hook.tensor))
  if (hook.module) return index.modules.get(hook.module)?.path ?? ''
  return nodeName(index, index.node(hook.node))
}

function tellHook(index: TraceIndex, id: string, t: Words): Told {
  const hook = index.hooks.get(id)
  if (!hook) return told('')
  const values = { hook: hook.function, name: hookPlace(index, hook) }
  if (hook.raised) return told(t('step.hook_raised', values), '', 'error')
  const { before, after } = hook
  if (before == null || after == null) return told(t('step.hook_fired', values))
  const key = isKept(index, hook) ? 'step.hook_left' : 'step.hook_changed'
  return told(t(key, values), numbers(index, before, after), hook.pass ? 'gradient' : 'plain')
}

/** Whether a tensor is known to hold, number for number, what it held before. */
function isKept(index: TraceIndex, { before, after }: Pick<HookCall, 'before' | 'after'>): boolean {
  const [held, holds] = [before, after].map((id) => index.tensor(id)?.data?.join())
  return before === after || (held !== undefined && held === holds)
}

function tellCall(index: TraceIndex, step: Step, t: Words): Told {
  const call = step.call ? index.calls.get(step.call) : undefined
  const module = call && index.modules.get(call.module)
  if (!call || !module) return told('')
  const values = { name: module.path, type: module.type, again: Number(!!index.op(call.first_op)?.rerun_of) }
  if (step.kind === 'call') return told(t('step.call', values))
  // Checkpointing leaves a recomputation by raising once it has what backward needs.
  if (call.raised && (call.pass == null || index.trace.failure)) return told(t('step.op_raised', values), '', 'error')
  const result = index.tensor(index.op(call.last_op)?.outputs[0])
  return told(t(result ? 'step.call_end_with' : 'step.call_end', values), result ? brief(result) : '')
}

function tellUpdate(index: TraceIndex, step: Step, t: Words): Told {
  const update = step.update ? index.updates.get(step.update) : undefined
  if (!update) return told('')
  const n = update.changes.length
  const change = update.changes[0]
  const name = updateName(index, update)
  const values = change ? numbers(index, change.before, change.after) : ''
  const owner = update.variable ?? update.optimizer
  if (update.kind === 'step')
    return told(t('step.update.step', { optimizer: owner ?? 'optimizer', n }), n === 1 ? values : '')
  if (update.kind === 'zero_grad')
    return told(t('step.update.zero_grad', { owner: owner ? `${owner}.` : '', n }), n === 1 ? values : '')
  if (n > 1 && /^grad_/.test(update.kind)) {
    const same = Number(update.changes.every((change) => isKept(index, change)))
    return told(t(`step.update.${update.kind}.several`, { n, same }))
  }
  const isGradient = update.kind === 'grad_set' && !!update.op
  const written = isGradient ? `${name}.grad` : name
  if ((isGradient || update.kind === 'data') && change && isKept(index, change))
    return told(t('step.update.kept', { name: written }), numbers(index, change.after))
  if (isGradient) return told(t('step.update.in_place', { name: written }), values)
  return told(t(`step.update.${isCounted(index, update) ? 'in_place' : update.kind}`, { name }), values)
}

/** Whether autograd's count of versions saw the write. */
function isCounted(index: TraceIndex, { kind, changes: [change] }: Update): boolean {
  const version = (id: string | null | undefined): number => index.tensor(id)?.version ?? 0
  return kind === 'data' && version(change?.after) > version(change?.before)
}

/** What an update is of: `w`, also where it edits `w.grad`. */
export function updateName(index: TraceIndex, update: Update): string {
  const change = update.changes[0]
  const named = change?.name || tensorName(index, index.tensor(change?.before ?? change?.after))
  return named.replace(/\.grad(\.data|\.detach\(\))?$/, '')
}
