// What the program's global names stand for over time. A trace tells it at the end of the run; before that the code
// does: `y = x * 2` binds `y` to what the op gave, and `y + 1` on a line of the module says what `y` is there. Of
// several ranks, whose names are their own, rank 0's are told.

import type { Span, Step, Tensor, Variable } from '../../api/types'
import { codeAt } from './naming'
import { mentions, Scopes, type Statement } from './scopes'
import type { TraceIndex } from './trace-index'

/** What a name stands for from a step on; null where that is not known. */
interface Binding {
  step: number
  tensor: string | null
}

/** A step on a line of the module. */
interface Position {
  step: number
  line: number
  statement: Statement | undefined
  /** What tells two turns of a loop apart on one line. */
  turn: string
}

/** Such as `x -= y`: what it does not make it writes into, and the name stands for that still. */
const WRITES = /^\s*\w+\s*[^\w\s=]+=/

/** A comprehension, whose names end with it. */
const HAS_NAMES_OF_ITS_OWN = /\S.*\bfor\b/

export class Bindings {
  readonly scopes: Scopes
  private readonly known = new Map<string, Binding[]>()
  private readonly positions: Position[]

  constructor(
    private readonly index: TraceIndex,
    private readonly birth: (tensor: string) => number,
    private readonly named: (name: string) => readonly Tensor[],
  ) {
    this.scopes = new Scopes(index.trace.program.code)
    this.positions = this.readPositions()
  }

  /** The identity of what a variable stood for after `step` steps. */
  at(variable: Variable, step: number): string | null {
    let bindings = this.known.get(variable.name)
    if (!bindings) this.known.set(variable.name, (bindings = this.read(variable)))
    return bindings.findLast((binding) => binding.step <= step)?.tensor ?? null
  }

  /** The one statement that ever binds a name, when it has certainly run: a line behind it has begun. */
  boundBy({ name }: Variable, step: number): Statement | undefined {
    const [statement, another] = this.scopes.bindingsOf(name) ?? []
    if (!statement || another || statement.loop > 0) return undefined
    return this.positions.some((at) => at.step <= step && at.line > statement.line) ? statement : undefined
  }

  /** Whether a function of the program runs. */
  isInFunction(step: number): boolean {
    const line = spanAt(this.index, this.index.event(step))?.line
    return (this.scopes.at(line)?.function ?? 0) > 0
  }

  /** The statement that made a tensor. */
  madeAt(tensor: string): Statement | undefined {
    return this.scopes.at(this.index.producer(this.index.identity(tensor))?.span?.line)
  }

  private read(variable: Variable): Binding[] {
    const { name } = variable
    const statements = this.scopes.bindingsOf(name)
    if (!statements) return []
    const assigned: Binding[] = []
    const told = statements.filter((statement) => {
      const found = this.resultsOf(statement, name)
      assigned.push(...found)
      return found.length > 0
    })
    const opaque = statements.filter((statement) => !told.includes(statement) && !WRITES.test(statement.text))
    if (opaque.length === 0) return inOrder(assigned)
    return this.settled(variable, opaque, assigned)
  }

  /** What a statement bound a name to each time it ran; nothing where its op is not the only one that may have. */
  private resultsOf(statement: Statement, name: string): Binding[] {
    if (statement.isLoop) return [] // all that a loop goes over is made before its first turn
    const made = this.identitiesOf(name).filter((tensor) => this.madeAt(tensor) === statement)
    const ops = new Set(made.map((tensor) => this.index.producer(tensor)?.name))
    if (ops.size !== 1) return []
    const found = inOrder(made.map((tensor) => ({ step: this.birth(tensor), tensor })))
    return statement.loop === 0 ? found.slice(-1) : found // before the last: parts of a sum
  }

  private identitiesOf(name: string): string[] {
    const found = new Set(this.named(name).map(({ id }) => this.index.identity(id)))
    return [...found].filter((tensor) => !this.index.producer(tensor)?.rank)
  }

  /** With statements that do not tell what they bind, such as `y = f(x)` or `kept = loss`: from where one may have run
   *  the name is not known until the code says what it is, or for good when nothing binds it any more. */
  private settled(variable: Variable, opaque: readonly Statement[], assigned: readonly Binding[]): Binding[] {
    const lost: Binding[] = []
    let settles = 0
    for (const [at, from] of this.positions.entries()) {
      const to = this.positions[at + 1]
      const runs = opaque.filter((statement) => mayRun(statement, from, to))
      if (runs.length === 0) continue
      lost.push({ step: from.step + (runs.includes(from.statement!) ? 0 : 1), tensor: null })
      settles = to?.step ?? Infinity
    }
    const found = inOrder([...this.uses(variable.name), ...lost, ...assigned])
    const last = variable.tensor == null ? null : this.index.identity(variable.tensor)
    if (last !== null && assigned.every(({ step }) => step <= settles)) found.push({ step: settles, tensor: last })
    return inOrder(found)
  }

  /** What ops on lines of the module were given under the name, and passes began at. */
  private uses(name: string): Binding[] {
    const { trace, stepOfOp } = this.index
    const tensors = new Set(this.identitiesOf(name))
    const given = (span: Span | null | undefined, ids: readonly string[], step: number | undefined): Binding[] => {
      const statement = this.positionOf(span)
      if (!statement || HAS_NAMES_OF_ITS_OWN.test(statement.text)) return []
      const known = new Set(ids.map((id) => this.index.identity(id)).filter((id) => tensors.has(id)))
      if (known.size !== 1 || step === undefined) return []
      return mentions(codeAt(trace.program.code, span, Infinity), name) ? [{ step, tensor: [...known][0]! }] : []
    }
    const roots = trace.passes.flatMap((pass) =>
      given(pass.span, pass.roots.map(({ tensor }) => tensor ?? ''), this.index.passStart(pass.id)),
    )
    return [...roots, ...trace.ops.flatMap((op) => given(op.span, op.inputs, stepOfOp.get(op.id)))]
  }

  /** The statement of the module that runs where an event has its place; what a `lambda` does may run at any time. */
  private positionOf(span: Span | null | undefined): Statement | undefined {
    const statement = this.scopes.at(span?.line)
    return statement?.isGlobal && !/\blambda\b/.test(statement.text) ? statement : undefined
  }

  private readPositions(): Position[] {
    const { index } = this
    const found: Position[] = [{ step: 0, line: 0, statement: undefined, turn: '' }]
    index.trace.timeline.forEach((event, at) => {
      const statement = this.positionOf(spanAt(index, event))
      const output = event.kind === 'output' ? index.trace.output[event.index ?? -1] : undefined
      const rank = (index.op(event.op) ?? index.passes.get(event.pass ?? '') ?? output)?.rank
      if (!statement || rank) return
      const turn = event.op == null ? (event.pass ?? '') : `turn ${index.op(event.op)?.iteration ?? 0}`
      found.push({ step: at + 1, line: statement.line, statement, turn })
    })
    return found
  }
}

/** The line that runs at an event; a pass runs where it was called. */
function spanAt(index: TraceIndex, event: Step | undefined): Span | null | undefined {
  return event?.span ?? index.passes.get(event?.pass ?? '')?.span
}

/** Whether a statement may run, or end, between two steps on lines of the module. */
function mayRun(statement: Statement, from: Position, to: Position | undefined): boolean {
  if (!to || from.line < to.line) return from.line <= statement.line && statement.line < (to?.line ?? Infinity)
  const isSameTurn = from.turn && to.turn ? from.turn === to.turn : to.step === from.step + 1
  if (from.line === to.line && isSameTurn) return false
  const loop = to.statement?.loop ?? 0
  return loop > 0 && loop === statement.loop && (statement.line >= from.line || statement.line < to.line)
}

function inOrder(bindings: readonly Binding[]): Binding[] {
  return [...bindings].sort((a, b) => a.step - b.step)
}
