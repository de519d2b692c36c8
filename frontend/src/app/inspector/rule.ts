// A derivative rule with the numbers of one visit put into its places.

import type { Rule, RuleSlot } from '../../api/client'
import type { Node, Tensor } from '../../api/types'
import { display } from '../../core/words/display'
import { MINUS } from '../../core/words/format'
import type { TraceIndex, VisitAt } from '../../core/trace/trace-index'
import { nodeName, tensorName } from '../../core/trace/naming'

const PLACE = /<mi data-slot="([^"]+)">(.*?)<\/mi>/g

/** The rule's MathML in an outer element of its own. */
export function math(inner: string): string {
  return inner.startsWith('<math') ? inner : `<math display="inline" displaystyle="true">${inner}</math>`
}

function escape(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}

/** A small tensor as MathML; null for one too large to write out. */
export function written(tensor: Tensor, gradient: boolean): string | null {
  const shown = display(tensor)
  const colour = gradient ? ' class="gradient"' : ''
  if (shown.kind === 'number' || shown.kind === 'word') return `<mn${colour}>${escape(shown.text)}</mn>`
  if (shown.kind !== 'matrix' || shown.stacked) return null
  const rows = shown.rows.map(
    (row) => `<mtr>${row.map((cell) => `<mtd><mn>${escape(cell)}</mn></mtd>`).join('')}</mtr>`,
  )
  return `<mtable${colour.replace('gradient', 'gradient matrix') || ' class="matrix"'}>${rows.join('')}</mtable>`
}

function isNumber(text: string | null | undefined): text is string {
  return text != null && text !== '' && Number.isFinite(Number(text))
}

/** What stands in a place: the gradient, an input by its slot, a saved field or the result. */
function valueOf(
  index: TraceIndex, name: string, node: Node, at: VisitAt,
): { tensor?: Tensor | undefined; text?: string } {
  if (name === 'g') return { tensor: index.tensor(at.visit.entered.find((id) => id !== null)) }
  const saved = node.saved?.find((kept) => kept.field === name)
  if (saved?.tensor) return { tensor: index.tensor(saved.tensor) }
  const kept = saved?.text
  if (isNumber(kept)) return { text: kept.replace('-', MINUS) }
  const op = index.op(node.op)
  if (name === 'result') return { tensor: index.tensor(op?.outputs[0]) }
  const slot = node.edges.findIndex((edge) => edge.name === name)
  const next = index.node(node.edges[slot]?.to)
  if (next?.variable) return { tensor: index.tensor(next.variable) }
  if (next && next.op !== node.op)
    return { tensor: index.tensor(index.op(next.op)?.outputs[node.edges[slot]?.input_nr ?? 0]) }
  // Without an edge, the call's own arguments say it, as long as the call is the operation: `x * 3`, but not a layer.
  const given =
    op && op.nodes.length === 1 && op.arguments.length === node.edges.length ? op.arguments[slot] : undefined
  if (given?.tensor) return { tensor: index.tensor(given.tensor) }
  const said = given?.text
  if (isNumber(said)) return { text: said.replace('-', MINUS) }
  return {}
}

/** The slot's rule with numbers, and what it came to; null when no number is small enough to write. */
export function substitute(index: TraceIndex, rule: Rule, slot: RuleSlot, node: Node, at: VisitAt): string | null {
  const number = node.edges.findIndex((edge) => edge.name === slot.name)
  const known = number >= 0 ? number : rule.slots.indexOf(slot)
  const left = index.tensor(at.visit.left[known])
  if (!left) return null
  let filled = 0
  const text = slot.substituted.replace(PLACE, (whole, name: string) => {
    const value = valueOf(index, name, node, at)
    const put = value.text !== undefined
      ? `<mn>${escape(value.text)}</mn>`
      : value.tensor
        ? written(value.tensor, name === 'g')
        : null
    if (put === null) return whole
    filled += 1
    return put
  })
  const result = written(left, true)
  if (filled === 0 || result === null) return null
  return math(`<mrow>${text.replace(/^<math[^>]*>|<\/math>$/g, '')}<mo>=</mo>${result}</mrow>`)
}

/** What the rule's letters stand for here: `a = y`, `b = 3`. The gradient and the result speak for themselves. */
export function letters(index: TraceIndex, rule: Rule, node: Node, at: VisitAt): { letter: string; name: string }[] {
  const found = new Map<string, string>()
  for (const slot of rule.slots) {
    for (const [, name = '', letter = ''] of slot.substituted.matchAll(PLACE)) {
      if (name === 'g' || name === 'result' || found.has(letter)) continue
      const value = valueOf(index, name, node, at)
      const text = value.text ?? (value.tensor ? tensorName(index, value.tensor) : '')
      if (text && text !== value.tensor?.id && text !== nodeName(index, node)) found.set(letter, text)
    }
  }
  return [...found].map(([letter, name]) => ({ letter, name })).sort((a, b) => a.letter.localeCompare(b.letter))
}
