// An index over one trace: everything by id, and where in the timeline each thing happened.

import type {
  Accumulation, Change, Gap, Graph, HookCall, Module, ModuleCall, Node, Op, Pass, Span, Step, Tensor, Trace, Update,
  Visit,
} from '../../api/types'

export interface VisitAt {
  pass: Pass
  index: number
  visit: Visit
  /** Steps that have happened once this visit has: its place in the timeline plus one; 0 when it has no step. */
  step: number
}

interface AccumulationAt {
  pass: Pass
  accumulation: Accumulation
  step: number
}

interface UpdateAt {
  update: Update
  step: number
}

interface ChangeAt extends UpdateAt {
  change: Change
}

/** Step numbers count events that have happened: event `timeline[n - 1]` is step n. */
export class TraceIndex {
  readonly tensors: ReadonlyMap<string, Tensor>
  readonly ops: ReadonlyMap<string, Op>
  readonly nodes: ReadonlyMap<string, Node>
  readonly passes: ReadonlyMap<string, Pass>
  readonly updates: ReadonlyMap<string, Update>
  readonly hooks: ReadonlyMap<string, HookCall>
  readonly calls: ReadonlyMap<string, ModuleCall>
  readonly modules: ReadonlyMap<string, Module>
  readonly stepOfHook: ReadonlyMap<string, number>
  readonly stepOfOp: ReadonlyMap<string, number>
  readonly visitsOfNode: ReadonlyMap<string, readonly VisitAt[]>
  readonly accumulationsOf: ReadonlyMap<string, readonly AccumulationAt[]>
  readonly updatesInOrder: readonly UpdateAt[]
  /** By leaf: what set its `.grad` or wrote into it outside of passes. */
  readonly gradChangesOf: ReadonlyMap<string, readonly ChangeAt[]>
  /** Where turns of long loops were left out. */
  readonly gaps: { gap: Gap; step: number }[] = []
  private readonly stepOfSum = new Map<string, number>()
  private readonly stepOfSeed = new Map<string, number>()
  private readonly startOfPass = new Map<string, number>()
  private readonly endOfPass = new Map<string, number>()
  private readonly opOfOutput = new Map<string, Op>()
  private senders: Map<string, { node: Node; slot: number }[]> | null = null
  private madeBy: Map<string, Tensor> | null = null
  private found: readonly Era[] | null = null

  constructor(readonly trace: Trace) {
    this.tensors = byId(trace.tensors)
    this.ops = byId(trace.ops)
    this.nodes = byId(trace.nodes)
    this.passes = byId(trace.passes)
    this.updates = byId(trace.updates)
    this.hooks = byId(trace.hooks ?? [])
    this.calls = byId(trace.calls ?? [])
    this.modules = byId(trace.modules)
    for (const op of trace.ops)
      for (const output of op.outputs) if (!this.opOfOutput.has(output)) this.opOfOutput.set(output, op)

    const stepOfOp = new Map<string, number>()
    const stepOfHook = new Map<string, number>()
    const stepOfVisit = new Map<string, number>()
    const stepOfAccumulation = new Map<string, number>()
    const updates: UpdateAt[] = []
    trace.timeline.forEach((event, at) => {
      const step = at + 1
      if (event.kind === 'op' && event.op != null) stepOfOp.set(event.op, step)
      else if (event.kind === 'pass' && event.pass != null) this.startOfPass.set(event.pass, step)
      else if (event.kind === 'pass_end' && event.pass != null) this.endOfPass.set(event.pass, step)
      else if (event.kind === 'visit') stepOfVisit.set(`${event.pass} ${event.visit}`, step)
      else if (event.kind === 'accumulate') stepOfAccumulation.set(`${event.pass} ${event.accumulation}`, step)
      else if (event.kind === 'seed') this.stepOfSeed.set(`${event.pass} ${event.root}`, step)
      else if (event.kind === 'sum' || event.kind === 'hook') {
        const key = `${event.pass} ${event.visit} ${event.input_nr ?? 0}`
        if (event.pass != null && event.visit != null && !this.stepOfSum.has(key)) this.stepOfSum.set(key, step)
      }
      if (event.hook != null && !stepOfHook.has(event.hook)) stepOfHook.set(event.hook, step)
      const update = event.update != null ? this.updates.get(event.update) : undefined
      if (update) updates.push({ update, step })
      const gap = event.kind === 'gap' ? trace.gaps?.[event.index ?? -1] : undefined
      if (gap) this.gaps.push({ gap, step })
    })
    this.stepOfOp = stepOfOp
    this.stepOfHook = stepOfHook
    this.updatesInOrder = updates
    const gradChanges = new Map<string, ChangeAt[]>()
    for (const { update, step } of updates) {
      for (const change of update.changes)
        if (change.leaf != null) push(gradChanges, this.identity(change.leaf), { update, step, change })
    }
    this.gradChangesOf = gradChanges

    const visits = new Map<string, VisitAt[]>()
    const accumulations = new Map<string, AccumulationAt[]>()
    for (const pass of trace.passes) {
      pass.visits.forEach((visit, index) => {
        push(visits, visit.node, { pass, index, visit, step: stepOfVisit.get(`${pass.id} ${index}`) ?? 0 })
      })
      pass.accumulations.forEach((accumulation, index) => {
        const step = stepOfAccumulation.get(`${pass.id} ${index}`) ?? 0
        push(accumulations, this.identity(accumulation.tensor), { pass, accumulation, step })
      })
    }
    for (const [node, list] of visits) {
      for (const at of list) {
        if (at.step === 0) at.step = this.stepOfLeafVisit(accumulations, at) || (this.endOfPass.get(at.pass.id) ?? 0)
      }
      visits.set(node, list.sort((a, b) => a.step - b.step))
    }
    for (const list of accumulations.values()) list.sort((a, b) => a.step - b.step)
    this.visitsOfNode = visits
    this.accumulationsOf = accumulations
  }

  /** The step of one visit of a pass; 0 when the timeline does not tell of it. */
  visitStep(pass: string, node: string, visit: number): number {
    return this.visitsOfNode.get(node)?.find((at) => at.pass.id === pass && at.index === visit)?.step ?? 0
  }

  private stepOfLeafVisit(accumulations: Map<string, AccumulationAt[]>, at: VisitAt): number {
    const leaf = this.nodes.get(at.visit.node)?.variable
    if (leaf == null) return 0
    const own = accumulations
      .get(this.identity(leaf))
      ?.find((a) => a.pass === at.pass && a.accumulation.visit === at.index)
    return own?.step ?? 0
  }

  tensor(id: string | null | undefined): Tensor | undefined {
    return id == null ? undefined : this.tensors.get(id)
  }

  op(id: string | null | undefined): Op | undefined {
    return id == null ? undefined : this.ops.get(id)
  }

  node(id: string | null | undefined): Node | undefined {
    return id == null ? undefined : this.nodes.get(id)
  }

  /** The id that all states of one tensor object share. */
  identity(id: string): string {
    return this.tensors.get(id)?.identity ?? id
  }

  /** The edges that lead to a node, by the nodes they leave. */
  edgesInto(id: string): readonly { node: Node; slot: number }[] {
    if (!this.senders) {
      this.senders = new Map()
      for (const node of this.trace.nodes)
        for (const [slot, { to }] of node.edges.entries()) if (to != null) push(this.senders, to, { node, slot })
    }
    return this.senders.get(id) ?? []
  }

  /** What a node made, where the program had it. */
  made(node: string, outputNr = 0): Tensor | undefined {
    this.madeBy ??= new Map(
      this.trace.tensors
        .flatMap((tensor): [string, Tensor][] =>
          tensor.grad_fn && tensor.role !== 'saved'
            ? [[`${tensor.grad_fn.node} ${tensor.grad_fn.output_nr}`, tensor]]
            : [],
        )
        .reverse(),
    )
    return this.madeBy.get(`${node} ${outputNr}`)
  }

  /** The op that gave a tensor, for those an op gave. */
  producer(tensor: string): Op | undefined {
    return this.opOfOutput.get(tensor)
  }

  /** Of the passes a graph is drawn of, in the order they ended; none of a single one. */
  get eras(): readonly Era[] {
    return (this.found ??= findEras(this))
  }

  sumStep(pass: string, visit: number, inputNr: number): number {
    return this.stepOfSum.get(`${pass} ${visit} ${inputNr}`) ?? 0
  }

  seedStep(pass: string, root: number): number {
    return this.stepOfSeed.get(`${pass} ${root}`) ?? 0
  }

  passStart(pass: string): number {
    return this.startOfPass.get(pass) ?? 0
  }

  /** The step that ends a pass; past the end of the timeline for one that never ended. */
  passEnd(pass: string): number {
    return this.endOfPass.get(pass) ?? this.trace.timeline.length + 1
  }

  /** The event that is current after `step` steps; undefined before the first. */
  event(step: number): Step | undefined {
    return step > 0 ? this.trace.timeline[step - 1] : undefined
  }
}

const known = new WeakMap<Trace, TraceIndex>()

/** The index of a trace, made once however many look into it. */
export function indexOf(trace: Trace): TraceIndex {
  const index = known.get(trace) ?? new TraceIndex(trace)
  known.set(trace, index)
  return index
}

export interface Lines {
  /** Boxes whose code touches each line. */
  boxesOf: ReadonlyMap<number, readonly string[]>
  /** Lines of each box. */
  linesOf: ReadonlyMap<string, readonly number[]>
}

/** Which lines of the program belong to which boxes of a graph. */
export function linesOfGraph(graph: Graph): Lines {
  const boxesOf = new Map<number, string[]>()
  const linesOf = new Map<string, readonly number[]>()
  for (const box of graph.boxes) {
    const lines = linesOfSpan(box.span)
    linesOf.set(box.id, lines)
    for (const line of lines) push(boxesOf, line, box.id)
  }
  return { boxesOf, linesOf }
}

export function linesOfSpan(span: Span | null | undefined): number[] {
  if (!span) return []
  return Array.from({ length: span.end_line - span.line + 1 }, (_, at) => span.line + at)
}

function byId<T extends { id: string }>(items: readonly T[]): Map<string, T> {
  return new Map(items.map((item) => [item.id, item]))
}

export function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}

/** Where the steps of a pass begin: its forward, or the pass itself. */
interface Era {
  pass: string
  begins: number
}

function findEras({ trace, ops, nodes, passes }: TraceIndex): Era[] {
  const found: Era[] = []
  const left = byId(trace.passes.filter(({ parent, roots }) => !parent && roots.some(({ node }) => node)))
  if (left.size < 2) return found
  /** Node to the last pass that leads to it. */
  const wanted = new Map<string, string>()
  for (const { id, roots } of [...left.values()].reverse()) {
    const ahead = roots.map(({ node }) => node)
    for (const node of ahead) {
      if (node == null || wanted.has(node)) continue
      wanted.set(node, id)
      for (const { to } of nodes.get(node)?.edges ?? []) ahead.push(to)
    }
  }
  let begins = 0
  let depth = 0
  let call = 0
  let end = 0
  trace.timeline.forEach(({ kind, op, pass }, at) => {
    if (kind === 'call' && depth++ === 0) call = at + 1
    if (kind === 'call_end' && depth) depth -= 1
    const last = found.at(-1)?.pass
    const isComing = ops.get(op ?? '')?.nodes.some((node) => left.has(wanted.get(node)!))
    if (isComing || (pass ?? last) !== last) begins ||= isComing && depth ? call : at + 1
    if (kind !== 'pass_end' || !left.delete(pass ?? '')) return
    found.push({ pass: pass!, begins })
    begins = depth = 0
    end = at + 2
  })
  const lines = trace.program.code.split('\n')
  const isOwn = ({ pass }: Era) => !lines[(passes.get(pass)?.span?.line as number) - 1]?.includes('gradcheck')
  if (end) found.push({ ...(found.findLast(isOwn) ?? found[0]!), begins: end })
  return found
}

/** The passes a graph is drawn of, in the order they ended; null stands for the only one there may be. */
export function passesShown(trace: Trace): (string | null)[] {
  const shown = new Set(indexOf(trace).eras.map(({ pass }) => pass))
  return shown.size > 0 ? [...shown] : [null]
}

/** The backward pass a step belongs to, where there are several: the one it is in, or the next one once its forward has
 *  begun, with an op that a coming pass leads back to or the module's call around it. What lies between, as
 *  `opt.step()` and `print(loss * 2)`, belongs to the one before, what lies after the last to the last that is no part
 *  of `gradcheck`. As `pass_at` of the engine. */
export function passOfStep(trace: Trace, step: number): string | null {
  const all = indexOf(trace).eras
  return (all.findLast(({ begins }) => begins <= step) ?? all[0])?.pass ?? null
}
