// What proves a finding: what the tensors are to autograd, their shapes under each other, their values.

import type { Finding, Tensor } from '../../api/types'
import { formatShape, plus } from '../words/format'
import { nonFinite, normOf } from '../words/display'
import type { Words } from '../words/sentences'
import type { TraceIndex } from './trace-index'
import { brief, nameOf, ownerName, tensorName } from './naming'

/** One fact that shows a finding is so. */
export interface Evidence {
  what: string
  is: string
  /** The records whose values it says. */
  values: readonly string[]
  wrong: boolean
}

const MOST_TENSORS = 6
const MOST_NAMES = 3
/** Findings about who gets a gradient; what the tensors are to autograd proves them. */
const ABOUT_TRACKING =
  /^cut_by_|^grad_(none|of|asked)|^nothing_requires_grad|^leaf_|untracked|^(unused|frozen|parameters)_|requires_grad|^not_a_leaf|^not_in_optimizer|^optimizer_|^number_wrapped|^tensor_of_tensors/
/** Those in which leaves got none. */
const WITHOUT_GRADIENT = /^cut_by_|^leaf_recreated|^grad_none|^unused_/
const ABOUT_VALUES =
  /^saved_(changed|tensor|value)|nan|^first_inf|^(log|root|division)_|^masked_by_zero|dead|overflow|fraction|saturated|^diverged|^grows_/
/** Findings about gradients that were added to those of an earlier pass. */
const ABOUT_SUMS: ReadonlySet<string> = new Set(['step_without_zero_grad', 'gradient_added_up'])

/** What the named tensors of a finding are to autograd, what their gradients came to, or their shape and type. */
export function evidenceOf(index: TraceIndex, finding: Finding): Evidence[] {
  const tensors = (finding.tensors ?? []).flatMap((id) => index.tensor(id) ?? [])
  const named = tensors.filter((tensor) => (tensor.names ?? []).length > 0).slice(0, MOST_TENSORS)
  const rows = [...cutAt(index, finding), ...named].flatMap((tensor): Evidence[] => {
    const name = ownerName(index, tensor)
    if (finding.code === 'not_in_optimizer') return []
    if (ABOUT_SUMS.has(finding.code)) return addedTo(index, tensor, finding)
    if (finding.code === 'zero_grad_before_step') return clearedBefore(index, tensor, finding)
    if (ABOUT_TRACKING.test(finding.code)) {
      if (WITHOUT_GRADIENT.test(finding.code) && isWithout(index, tensor))
        return [{ what: `${name}.grad`, is: 'None', values: [], wrong: true }]
      const type = tensor.grad_fn ? (index.node(tensor.grad_fn.node)?.type ?? '') : 'None'
      return [
        { what: `${name}.grad_fn`, is: type, values: [], wrong: false },
        {
          what: `${name}.requires_grad`, is: tensor.requires_grad ? 'True' : 'False', values: [],
          wrong: !tensor.requires_grad,
        },
      ]
    }
    const shape = `${formatShape(tensor.shape)} ${tensor.dtype}`
    const { nan, inf } = nonFinite(tensor)
    if (tensor.shape.length > 0 && nan + inf === 0 && !ABOUT_VALUES.test(finding.code))
      return [{ what: name, is: shape, values: [], wrong: false }]
    const { cell = name, value: is = '', place = '' } = finding.parameters ?? {}
    if (place && tensor.id === finding.tensors?.[0]) return [{ what: cell, is, values: [tensor.id], wrong: true }]
    const states = named.filter((other) => index.identity(other.id) === index.identity(tensor.id))
    const shown = `${shape} · ${[...new Set(states.map((state) => brief(state)))].join(' → ')}`
    return [{ what: name, is: shown, values: states.map(({ id }) => id), wrong: false }]
  })
  if (finding.code === 'not_in_optimizer') rows.push(...steppedBy(index, finding))
  return rows.filter((row, at) => rows.findIndex((other) => other.what === row.what && other.is === row.is) === at)
}

/** Which tensors a finding concerns, by their names; of many the first. */
export function concerned(index: TraceIndex, { tensors = [] }: Finding, t: Words): string {
  const all = [...new Set(tensors.flatMap((id) => nameOf(index, index.tensor(id)) || []))]
  const names = all.slice(0, MOST_NAMES).map((name) => `\`${name}\``).join(t('step.and'))
  const n = all.length - MOST_NAMES
  return all.length === 0 ? '' : t(n > 0 ? 'findings.concerns_more' : 'findings.concerns', { names, n })
}

/** What goes into a cut and what comes out of it: of several that go in what the finding names. */
function cutAt(index: TraceIndex, { code, span, tensors = [] }: Finding): Tensor[] {
  const isThere = (place: typeof span) =>
    place != null && span != null && place.line === span.line && place.column === span.column &&
    place.end_line === span.end_line && place.end_column === span.end_column
  const op = code.startsWith('cut_by_') ? index.trace.ops.find((each) => isThere(each.span)) : undefined
  const tracked = (op?.inputs ?? []).flatMap((id) => index.tensor(id) ?? []).filter((tensor) => tensor.requires_grad)
  const given = tracked.find(({ id }) => tensors.includes(id)) ?? tracked[0]
  const made = index.tensor(op?.outputs[0])
  return given && made && !made.requires_grad ? [given, made] : []
}

/** Whether a leaf has no gradient, and no pass gave it one. */
function isWithout(index: TraceIndex, { id, is_leaf, requires_grad, grad }: Tensor): boolean {
  return is_leaf !== false && !!requires_grad && !grad && !index.accumulationsOf.has(index.identity(id))
}

/** What the optimizer of a finding changes, at its last step: the parameters it does know. */
function steppedBy(index: TraceIndex, { parameters }: Finding): Evidence[] {
  const at = index.updatesInOrder.findLast(
    ({ update }) => update.kind === 'step' && update.variable === parameters?.optimizer,
  )
  const names = at?.update.changes.map(({ name, before }) => name || tensorName(index, index.tensor(before))) ?? []
  const is = [...names.slice(0, MOST_TENSORS), ...(names.length > MOST_TENSORS ? ['…'] : [])].join(', ')
  return is ? [{ what: `${parameters?.optimizer}.step()`, is, values: [], wrong: false }] : []
}

/** What `zero_grad` took from a leaf. */
function clearedBefore(index: TraceIndex, leaf: Tensor, { span }: Finding): Evidence[] {
  const cleared = index.gradChangesOf
    .get(index.identity(leaf.id))
    ?.find(({ update, change }) => update.span?.line === span?.line && change.before)
  const [old, left] = [index.tensor(cleared?.change.before), index.tensor(cleared?.change.after)]
  if (!old) return []
  const [is, values] = [`${brief(old)} → ${left ? brief(left) : 'None'}`, left ? [old.id, left.id] : [old.id]]
  return [{ what: `${tensorName(index, leaf)}.grad`, is, values, wrong: true }]
}

/** The sum in a leaf's `.grad` at the pass that the finding is about, of several at the one that adds most to most. */
function addedTo(index: TraceIndex, leaf: Tensor, { span }: Finding): Evidence[] {
  const sums = (index.accumulationsOf.get(index.identity(leaf.id)) ?? [])
    .filter(({ pass, accumulation }) => pass.span?.line === span?.line && accumulation.before !== null)
  const sizes = sums.map(({ accumulation: { before, delta } }) =>
    Math.min(...[before, delta].map((id) => (id ? normOf(index.tensor(id)!) || 0 : 0))))
  const { before, delta, after } = sums[sizes.indexOf(Math.max(...sizes))]?.accumulation ?? {}
  const [old, added, sum] = [before, delta, after].map((id) => index.tensor(id))
  if (!old || !added || !sum) return []
  const is = `${plus([brief(old), brief(added)])} → ${brief(sum)}`
  const values = [old.id, added.id, sum.id]
  return [{ what: `${tensorName(index, leaf)}.grad`, is, values, wrong: true }]
}

/** Shapes written under each other from the right, as broadcasting reads them. */
interface AlignedShapes {
  rows: readonly { name: string; sizes: readonly (number | null)[] }[]
  /** The column where they do not fit, if one does not. */
  clash: number | null
  /** Columns where one is stretched. */
  stretched: readonly boolean[]
}

const ABOUT_BROADCASTING: ReadonlySet<string> = new Set([
  'shape_mismatch_broadcast', 'difference_broadcast', 'loss_broadcast', 'comparison_broadcast',
])

export function shapesUnderEachOther(index: TraceIndex, finding: Finding): AlignedShapes | null {
  if (!ABOUT_BROADCASTING.has(finding.code)) return null
  const tensors = (finding.tensors ?? []).flatMap((id) => index.tensor(id) ?? []).slice(0, 2)
  if (tensors.length < 2) return null
  const width = Math.max(...tensors.map((tensor) => tensor.shape.length))
  const rows = tensors.map((tensor) => ({
    name: tensorName(index, tensor),
    sizes: [...Array.from({ length: width - tensor.shape.length }, () => null), ...tensor.shape],
  }))
  const columns = Array.from({ length: width }, (_, at) => rows.map((row) => row.sizes[at] ?? null))
  const clash = columns.findIndex(([a, b]) => a !== null && b !== null && a !== b && a !== 1 && b !== 1)
  return { rows, clash: clash < 0 ? null : clash, stretched: columns.map(([a, b], at) => at !== clash && a !== b) }
}
