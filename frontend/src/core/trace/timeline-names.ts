// What stands beside the marks of the timeline, where there is room: a few letters each, and the parts of the model.

import type { Graph, Pass, Step } from '../../api/types'
import { brief as briefTerm } from '../words/display'
import { cutEnd, cutName, textWidth } from '../words/format'
import type { Words } from '../words/sentences'
import { passOfStep, type TraceIndex } from './trace-index'
import { batchAt, samplesOf } from './batches'
import { fillingAt } from './filling'
import { nameOf, opName, shortType, tensorName } from './naming'
import { Scopes } from './scopes'
import { nodeOfStep } from './steps'
import { reductionOf, updateName } from './story'
import type { TimelineMark, Track } from './timeline'

export interface Band {
  text: string
  from: number
  to: number
  above: boolean
}

const LABEL_SIZE = 11
/** Longer names would stand over what other marks stand for. */
const LONGEST = 86
/** Room for the name of a bracket. */
const WIDEST = 170

/** The marks with their names, where there is room for one before the next on its side and the end of the line; that of
 *  the last mark stands left of it. */
export function named(index: TraceIndex, marks: readonly TimelineMark[], track: Track, t: Words): TimelineMark[] {
  const free = { above: -Infinity, below: -Infinity }
  return marks.map((mark, at) => {
    const { x, above, step } = mark
    const side = above ? 'above' : 'below'
    const text = markLabel(index, index.event(step)!, t)
    const width = textWidth(text, LABEL_SIZE)
    const next = marks.slice(at + 1).find((other) => other.above === above)?.x ?? track.right + 7
    const fits = at === marks.length - 1
      ? x - 10 - width >= free[side]
      : x + 8 >= free[side] && x + 10 + width <= next - 7
    free[side] = Math.max(free[side], fits && text !== '' ? x + 12 + width : x + 8)
    return { ...mark, label: fits ? text : '' }
  })
}

/** A few letters for a mark on the timeline. */
export function markLabel(index: TraceIndex, step: Step, t: Words): string {
  return cutName(nameAt(index, step, t), LABEL_SIZE, LONGEST)
}

function nameAt(index: TraceIndex, step: Step, t: Words): string {
  const pass = step.pass ? index.passes.get(step.pass) : undefined
  switch (step.kind) {
    case 'op': {
      const op = index.op(step.op)
      const filling = op && fillingAt(index, index.stepOfOp.get(op.id) ?? 0)
      return filling ? calleeOf(filling.code) : op ? opName(index, op) : ''
    }
    case 'seed': {
      const seed = index.tensor(pass?.roots[step.root ?? 0]?.seed)
      return seed ? `seed ${briefTerm(seed)}` : 'seed'
    }
    case 'visit': {
      const type = nodeOfStep(index, step)?.type ?? ''
      return type === 'AccumulateGrad' ? 'Acc' : shortType(type)
    }
    case 'sum':
      return 'Σ'
    case 'reduce':
      return reduceLabel(pass, step)
    case 'hook':
      return (step.hook && index.hooks.get(step.hook)?.function) || 'hook'
    case 'call':
      return ownName(index.modules.get(index.calls.get(step.call ?? '')?.module ?? '')?.path ?? '')
    case 'accumulate': {
      const name = tensorName(index, index.tensor(pass?.accumulations[step.accumulation ?? 0]?.tensor))
      const full = `${name}.grad`
      return textWidth(full, LABEL_SIZE) > LONGEST ? `${ownName(name)}.grad` : full
    }
    case 'batch': {
      const batch = batchAt(index.trace, step)
      return batch ? `batch [${samplesOf(batch, 4)}]` : ''
    }
    case 'output':
      return 'print'
    case 'update':
    case 'reset': {
      const update = step.update ? index.updates.get(step.update) : undefined
      return update?.kind === 'step'
        ? 'step()'
        : update?.kind === 'zero_grad'
          ? 'zero_grad'
          : update
            ? updateName(index, update)
            : ''
    }
    case 'warning':
      return t('output.warning')
    case 'gap': {
      const passes = index.trace.gaps?.[step.index ?? -1]?.passes ?? 0
      return passes ? `… ${passes}` : '…'
    }
    default:
      return ''
  }
}

const BELOW = '₀₁₂₃₄₅₆₇₈₉'

/** `Σ₀`: the axes that are summed, as indices below. */
function reduceLabel(pass: Pass | undefined, step: Step): string {
  const visit = pass?.visits[step.visit ?? -1]
  const axes = (visit && reductionOf(visit, step.slot)?.axes) ?? []
  return `Σ${axes.map((axis) => BELOW[axis] ?? '').join('')}`
}

/** Which turn of a loop each op of a graph ran in, of loops in one another the outermost: `x, t 1`, `t = 0`. */
export function turnsIn({ boxes, groups }: Pick<Graph, 'boxes' | 'groups'>): Map<string, string> {
  const byId = new Map(groups.map((group) => [group.id, group]))
  const found = new Map<string, string>()
  for (const { op, group } of boxes) {
    for (let at = byId.get(group ?? ''); at && op; at = byId.get(at.parent ?? '')) {
      const [, name] = /^(?:async )?(?:for )?(.*)$/.exec(at.type)!
      const isTurn = at.kind === 'loop' && at.type !== '' && (at.repeat ?? 1) === 1 && / |^while$/.test(at.type)
      if (isTurn) found.set(op, at.title.includes(' = ') ? at.title : `${name} ${at.title}`)
    }
  }
  return found
}

/** A bracket too short for its name, and what it is in: the model, and what the pass began with. */
interface Crowded extends Band {
  around: string
  loss: string
}

/** Which turn of a loop the ticks belong to, or else which top part of the model, as brackets: `blocks.0`, `head`;
 *  without a model which function or loop of the program. */
export function bands(index: TraceIndex, track: Track, turns?: ReadonlyMap<string, string>): Band[] {
  const { timeline, modules, program } = index.trace
  const scopes = modules.length === 0 ? new Scopes(program.code) : null
  const paths = new Map(modules.map((module) => [module.id, module.path]))
  const roots = modules.filter((module) => module.parent == null).length
  const found: Band[] = []
  const crowded: Crowded[] = []
  let open: { text: string; first: number; last: number; above: boolean; around: string; loss: string } | null = null
  const close = (): void => {
    if (open && open.text) {
      const [from, to] = [track.at(open.first), track.at(open.last)]
      const { text, above, around, loss } = open
      if (hasRoom(text, from, to)) found.push({ text, from, to, above })
      else crowded.push({ text, from, to, above, around, loss })
    }
    open = null
  }
  timeline.forEach((event, at) => {
    if (event.kind !== 'op' && event.kind !== 'visit') return
    const pass = event.pass ? index.passes.get(event.pass) : undefined
    const node = event.kind === 'visit' ? index.node(pass?.visits[event.visit ?? 0]?.node) : undefined
    const op = index.op(event.kind === 'op' ? event.op : node?.op)
    if (event.kind === 'visit' && !op) return
    const turn = turns?.get(op?.id ?? '')
    const path = paths.get(op?.module ?? '') ?? ''
    const text = turn !== undefined ? cutEnd(turn, LABEL_SIZE, WIDEST)
      : scopes ? blockAt(scopes, op?.span?.line) : part(path, roots === 1)
    const above = event.kind === 'visit'
    if (open && open.text === text && open.above === above) open.last = at + 1
    else {
      close()
      const of = pass ?? index.passes.get(passOfStep(index.trace, at + 1) ?? '')
      const loss = nameOf(index, index.tensor(of?.roots[0]?.tensor))
      open = { text, first: at + 1, last: at + 1, above, around: path.split('.')[0]!, loss }
    }
  })
  close()
  return together(crowded, found)
}

/** `def f(x):` → `f`, `for t in range(9):` → `for t in range(9)`: the function a line is in, else the outermost
 *  loop. */
function blockAt(scopes: Scopes, line: number | undefined): string {
  const at = scopes.at(line)
  const header = scopes.at(at?.function || at?.loop)?.text ?? ''
  const text = /\bdef\s+(\w+)/.exec(header)?.[1] ?? header.trim().replace(/:(\s.*)?$/, '')
  return cutEnd(text, LABEL_SIZE, WIDEST)
}

function hasRoom(text: string, from: number, to: number): boolean {
  return to - from > textWidth(text, LABEL_SIZE) + 6
}

/** Coarser and coarser names: of the list a part is in, of lists that are counted, of the model and of what the pass
 *  began with. */
const COARSER: readonly ((band: Crowded) => string)[] = [
  ({ text }) => text,
  ({ text }) => text.replace(/(\.| = | )\d+$/, ''),
  ({ text }) => text.replace(/(\d|\.| = | )+$/, ''),
  ({ around }) => around,
  ({ loss }) => loss,
]
/** So many of them are names of lists. */
const LISTS = 3

/** One bracket over neighbours that are too short for their names, by the finest name that has room: `blocks ×12`,
 *  `layer ×4`, `model`; what has its name already stands between no neighbours. */
function together(crowded: readonly Crowded[], named: readonly Band[]): Band[] {
  const found = [...named]
  let left = crowded
  for (const [level, name] of COARSER.entries()) {
    if (level === 0) continue
    const lists: Crowded[][] = []
    for (const band of left) {
      const list = lists.at(-1)
      const last = list?.at(-1)
      const isNext = last && name(last) === name(band) && last.above === band.above &&
        !found.some(({ above, from }) => above === band.above && from > last.to && from < band.from)
      if (isNext) list!.push(band)
      else lists.push([band])
    }
    left = lists.flatMap((list) => {
      const [from, to] = [list[0]!.from, list.at(-1)!.to]
      const whole = name(list[0]!)
      const parts = new Set(list.map(COARSER[level - 1]!)).size
      const counted = parts > 1 && level < LISTS ? `${whole} ×${parts}` : whole
      const text = [counted, whole].find((text) => text && hasRoom(text, from, to))
      if (text) found.push({ text, from, to, above: list[0]!.above })
      return text ? [] : list
    })
  }
  return found
}

/** `model.blocks.0.attn` → `blocks.0`; the model's own name stays with several side by side, and before a number. */
function part(path: string, onlyRoot: boolean): string {
  const all = path.split('.')
  const pieces = all.slice(onlyRoot && !isNumber(all[1]) ? 1 : 0)
  return isNumber(pieces[1]) ? `${pieces[0]}.${pieces[1]}` : (pieces[0] ?? '')
}

/** `model.head` → `head`, `model.0` → `model.0`: a number alone says nothing. */
function ownName(path: string): string {
  const pieces = path.split('.')
  return pieces.slice(isNumber(pieces.at(-1)) ? -2 : -1).join('.')
}

/** `nn.Linear(4, 4)` → `Linear`. */
function calleeOf(code: string): string {
  return ownName(code.split('(')[0]!.trim())
}

function isNumber(piece: string | undefined): boolean {
  return /^\d+$/.test(piece ?? '')
}
