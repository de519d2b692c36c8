// Which records the page shows the numbers of at a step, for a test that compares them with plain PyTorch.

import type { Rule } from '../../frontend/src/core/rules'
import type { Trace } from '../../frontend/src/api/types'
import { originsOf } from '../../frontend/src/core/ops/origins'
import { count } from '../../frontend/src/core/ops/places'
import { isProduct, productOf, termsOf } from '../../frontend/src/core/ops/product'
import { equationOf, subjectOf, subjectOfSum, type Subject } from '../../frontend/src/core/paint/cells-scene'
import { contributions, sumOf } from '../../frontend/src/core/trace/contributions'
import { evidenceOf, type Evidence } from '../../frontend/src/core/trace/evidence'
import { History } from '../../frontend/src/core/trace/history'
import { arrivals, departures } from '../../frontend/src/core/trace/inspect'
import { visitAt } from '../../frontend/src/core/trace/visits'
import { ruleShown, type RuleShown } from '../../frontend/src/core/trace/rule'
import { exchangeOf } from '../../frontend/src/core/trace/story'
import { TraceIndex } from '../../frontend/src/core/trace/trace-index'

export interface Question {
  step: number
  /** Nodes to be selected one after the other. */
  nodes: readonly string[]
}

type Shown = string | null

export interface Numbers {
  /** `grad` is absent where the page says nothing of one. */
  variables: { name: string; tensor: Shown; text: Shown; grad?: Shown }[]
  /** One for each leaf with an account: what the ledger and the inspector say of it. */
  leaves: { name: string; value: Shown; grad: Shown; added: { pass: string; visit: number; delta: Shown }[] }[]
  /** What the inspector says of a selected node once it was visited. */
  nodes: { pass: string; visit: number; entered: Shown[]; left: Shown[]; told: Told | null }[]
}

/** The records in the sentence of a visit's step: what it received, and by slot what it sent. */
interface Told {
  received: string[]
  sent: [slot: number, tensor: string][]
}

/** The numbers at each of several steps. */
export function numbersOf(trace: Trace, questions: readonly Question[]): Numbers[] {
  const history = new History(new TraceIndex(trace))
  return questions.map(({ step, nodes }) => ({
    variables: variables(history, step),
    leaves: leaves(history, step),
    nodes: nodes.flatMap((node) => visited(history.index, node, step)),
  }))
}

function variables(history: History, step: number): Numbers['variables'] {
  return history.variablesAt(step).map(({ name, tensor, variable }) => {
    const grad = tensor && history.gradShownAt(tensor, step)
    return {
      name, tensor: tensor?.id ?? null, text: variable.text ?? null,
      ...grad === undefined ? {} : { grad: grad?.id ?? null },
    }
  })
}

function leaves(history: History, step: number): Numbers['leaves'] {
  return history.accounts.map(({ leaf, name, entries }) => ({
    name,
    value: history.stateAt(leaf, step)?.id ?? null,
    grad: history.gradAt(leaf, step),
    added: entries.flatMap((entry) =>
      entry.kind === 'pass' && entry.step <= step
        ? [{ pass: entry.pass.id, visit: entry.accumulation.visit, delta: entry.accumulation.delta }]
        : [],
    ),
  }))
}

function visited(index: TraceIndex, id: string, step: number): Numbers['nodes'] {
  const node = index.node(id)
  const at = node && visitAt(index, node, step, [])
  if (!node || !at || at.step > step) return []
  return [
    {
      pass: at.pass.id, visit: at.index,
      entered: arrivals(index, at).map(({ tensor }) => tensor?.id ?? null),
      left: departures(index, node, at).map(({ tensor }) => tensor?.id ?? null),
      told: toldAt(index, at.step),
    },
  ]
}

function toldAt(index: TraceIndex, step: number): Told | null {
  const event = index.event(step)
  if (event?.kind !== 'visit') return null
  const { received, sent } = exchangeOf(index, index.passes.get(event.pass!)?.visits[event.visit!])
  return { received: received.map(({ id }) => id), sent: sent.map(({ slot, tensor }) => [slot, tensor.id]) }
}

export interface Equations {
  /** What the inspector says of each visited node by its rule. */
  rules: ({ node: string } & RuleShown)[]
  /** How cells came about: of matrix products, windows, stretched operands, summed gradients, gradients of leaves. */
  cells: string[]
}

const MOST_CELLS = 12

/** Every equation the inspector shows at the end of a run. */
export function equationsOf(trace: Trace, table: readonly Rule[]): Equations {
  const index = new TraceIndex(trace)
  const rules = [...index.visitsOfNode].flatMap(([id, visits]) => {
    const node = index.node(id)
    const rule = table.find(({ id }) => id === node?.rule)
    if (!node || !rule || node.variable) return []
    return visits.map((at) => ({ node: `${node.type} ${id}`, ...ruleShown(index, rule, node, at, true) }))
  })
  const cells = trace.ops.filter(isProduct).flatMap((op) => {
    const product = productOf(op, (id) => index.tensor(id))
    const { rows = 0, columns = 0 } = product?.result ?? {}
    return Array.from({ length: Math.min(rows * columns, MOST_CELLS) }, (_, at) =>
      termsOf(product!, Math.floor(at / columns), at % columns),
    ).flatMap((terms) => terms ?? [])
  })
  const worked = trace.ops.flatMap((op) => {
    const origins = originsOf(op, (id) => index.tensor(id))
    return origins && origins.kind !== 'picked' ? [subjectOf(index, op, origins)] : []
  })
  const drawn = [...worked, ...summed(index)].flatMap((subject) => equationsIn(subject))
  return { rules, cells: [...cells, ...sums(index), ...drawn] }
}

/** What came together at leaves. */
function sums(index: TraceIndex): string[] {
  return index.trace.passes.flatMap((pass) =>
    pass.accumulations.flatMap((accumulation) => {
      const [parts, delta] = [contributions(index, pass, accumulation), index.tensor(accumulation.delta)]
      return Array.from({ length: Math.min(MOST_CELLS, delta?.data?.length ?? 0) }, (_, cell) =>
        sumOf(parts, delta, cell),
      ).flatMap((equation) => equation ?? [])
    }),
  )
}

/** The gradients that were summed over axes along which broadcasting had stretched an operand. */
function summed(index: TraceIndex): Subject[] {
  return index.trace.passes.flatMap(({ visits }) =>
    visits.flatMap((visit) =>
      (visit.reduced ?? []).flatMap(({ slot }) => subjectOfSum(index, index.node(visit.node)!, visit, slot) ?? []),
    ),
  )
}

function equationsIn(subject: Subject): string[] {
  const size = count(subject.outputs[0]?.tensor?.shape ?? [])
  return Array.from({ length: Math.min(size, MOST_CELLS) }, (_, nth) => {
    // From all over the result, its last cell among them.
    const cell = size <= MOST_CELLS ? nth : Math.round((nth * (size - 1)) / (MOST_CELLS - 1))
    return equationOf(subject, cell)
  }).flatMap((equation) => equation ?? [])
}

/** The evidence of each finding. */
export function evidenceShown(trace: Trace): Evidence[][] {
  const index = new TraceIndex(trace)
  return (trace.findings ?? []).map((finding) => evidenceOf(index, finding))
}
