// Findings as blocks under their line: what is wrong, in one sentence, and a way to the rest.

import type { Finding, Trace } from '../api/types'
import { brief } from '../core/display'
import { formatNumber, formatShape } from '../core/format'
import { pieces, type Words } from '../core/sentences'
import type { TraceIndex } from '../core/trace'
import type { LineBlock } from './marks'
import { tensorName } from './naming'

/** A number as Python prints very small and large ones. */
const EXPONENT = /^-?\d(\.\d+)?e[-+]\d+$/

/** A sentence of a finding by its code; empty when the word lists do not know it. */
export function findingWords(trace: Trace, at: number, part: 'title' | 'text' | 'fix', t: Words): string {
  const finding = trace.findings[at]
  const key = `finding.${finding?.code}.${part}`
  return finding && t.has(key) ? t(key, Object.fromEntries(Object.entries(finding.parameters ?? {}).map(([name, value]) => [name, EXPONENT.test(value) ? formatNumber(Number(value)) : value]))) : ''
}

/** One fact that shows a finding is so. */
export interface Evidence {
  what: string
  is: string
  wrong: boolean
}

const MOST_TENSORS = 6
/** Findings about who gets a gradient; what the tensors are to autograd proves them. */
const ABOUT_TRACKING = /^cut_by_|^grad_(none|of|asked)|^nothing_requires_grad|^leaf_|untracked|^(unused|frozen|parameters)_|requires_grad|^not_a_leaf|^not_in_optimizer|^optimizer_|^number_wrapped|^tensor_of_tensors/
const ABOUT_VALUES = /^saved_|nan|inf|zero|negative|dead|overflow|fraction|saturated/

/** What the named tensors of a finding are to autograd, or their shape and type. */
export function evidenceOf(index: TraceIndex, finding: Finding): Evidence[] {
  const tensors = (finding.tensors ?? []).flatMap((id) => index.tensor(id) ?? [])
  const named = tensors.filter((tensor) => (tensor.names ?? []).length > 0).slice(0, MOST_TENSORS)
  const rows = named.flatMap((tensor): Evidence[] => {
    const name = tensorName(index, tensor)
    if (ABOUT_TRACKING.test(finding.code)) {
      const type = tensor.grad_fn ? (index.node(tensor.grad_fn.node)?.type ?? '') : 'None'
      return [
        { what: `${name}.grad_fn`, is: type, wrong: false },
        { what: `${name}.requires_grad`, is: tensor.requires_grad ? 'True' : 'False', wrong: !tensor.requires_grad },
      ]
    }
    return [{ what: name, is: `${formatShape(tensor.shape)} ${tensor.dtype}${ABOUT_VALUES.test(finding.code) ? ` · ${brief(tensor)}` : ''}`, wrong: false }]
  })
  return rows.filter((row, at) => rows.findIndex((other) => other.what === row.what && other.is === row.is) === at)
}

/** Shapes written under each other from the right, as broadcasting reads them. */
export interface AlignedShapes {
  rows: readonly { name: string; sizes: readonly (number | null)[] }[]
  /** The column where they do not fit, if one does not. */
  clash: number | null
  /** Columns where one is stretched. */
  stretched: readonly boolean[]
}

const ABOUT_BROADCASTING: ReadonlySet<string> = new Set(['shape_mismatch_broadcast', 'difference_broadcast', 'loss_broadcast'])

export function shapesUnderEachOther(index: TraceIndex, finding: Finding): AlignedShapes | null {
  if (!ABOUT_BROADCASTING.has(finding.code)) return null
  const tensors = (finding.tensors ?? []).flatMap((id) => index.tensor(id) ?? []).slice(0, 2)
  if (tensors.length < 2) return null
  const width = Math.max(...tensors.map((tensor) => tensor.shape.length))
  const rows = tensors.map((tensor) => ({ name: tensorName(index, tensor), sizes: [...Array.from({ length: width - tensor.shape.length }, () => null), ...tensor.shape] }))
  const columns = Array.from({ length: width }, (_, at) => rows.map((row) => row.sizes[at] ?? null))
  const clash = columns.findIndex(([a, b]) => a !== null && b !== null && a !== b && a !== 1 && b !== 1)
  return { rows, clash: clash < 0 ? null : clash, stretched: columns.map(([a, b]) => a !== b) }
}

function unmarked(sentence: string): string {
  return pieces(sentence)
    .map((piece) => piece.text)
    .join('')
}

export function findingBlocks(trace: Trace, t: Words): LineBlock[] {
  return trace.findings.flatMap((finding, index) => {
    if (!finding.span || finding.severity === 'note') return []
    const title = unmarked(findingWords(trace, index, 'title', t)) || finding.code
    return [{ line: finding.span.end_line, title, action: t('findings.show'), fix: finding.fix?.length ? t('findings.apply') : '', index }]
  })
}
