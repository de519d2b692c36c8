// Training as curves: the loss of every pass, what an optimizer's steps did to few numbers, and what it keeps.

import type { Change, Tensor, Trace, Update } from '../api/types'
import { wireNumber } from './format'
import { push, type TraceIndex } from './trace'

/** A call of the engine on the curve. */
export interface Point {
  number: number
  /** Its pass, when that was kept and can be looked at. */
  pass: string | null
  loss: number | null
  gradientNorm: number | null
}

export function curveOf(trace: Trace): Point[] {
  return (trace.curve ?? []).map((point) => ({
    number: point.number,
    pass: point.pass ?? null,
    loss: point.loss == null ? null : wireNumber(point.loss),
    gradientNorm: point.gradient_norm == null ? null : wireNumber(point.gradient_norm),
  }))
}

/** One step of an optimizer, placed in the run. */
export interface OptimizerStep {
  update: Update
  step: number
  /** Which call of the engine came last before it; 0 for none. */
  number: number
}

/** All that one optimizer did. */
export interface Course {
  /** The name it is bound to; its class, or its class and a setting, where that name is used for several. */
  label: string
  optimizer: string
  /** Identities of its parameters, in its order. */
  parameters: readonly string[]
  steps: readonly OptimizerStep[]
}

/** The courses of all optimizers, in the order of their first steps. */
export function coursesOf(index: TraceIndex): Course[] {
  const steps = stepsByOptimizer(index)
  const courses = [...steps.values()].map((list) => {
    const first = list[0]!.update
    return { label: first.variable ?? first.optimizer ?? '', optimizer: first.optimizer ?? '', parameters: parametersOf(index, first), steps: list }
  })
  return named(courses)
}

function stepsByOptimizer(index: TraceIndex): Map<string, OptimizerStep[]> {
  const numbers = new Map<string, number>((index.trace.curve ?? []).flatMap((point) => (point.pass != null ? [[point.pass, point.number] as const] : [])))
  index.trace.passes.forEach((pass, at) => {
    if (!numbers.has(pass.id)) numbers.set(pass.id, at + 1)
  })
  const found = new Map<string, OptimizerStep[]>()
  let number = 0
  index.trace.timeline.forEach((event, at) => {
    if (event.kind === 'pass_end' && event.pass != null) number = numbers.get(event.pass) ?? number
    const update = event.update != null ? index.updates.get(event.update) : undefined
    if (update?.kind !== 'step' || update.changes.length === 0) return
    push(found, `${update.variable ?? ''} ${update.optimizer ?? ''} ${parametersOf(index, update).join(' ')}`, { update, step: at + 1, number })
  })
  return found
}

function parametersOf(index: TraceIndex, update: Update): string[] {
  return update.changes.flatMap((change) => (change.after ?? change.before ? [index.identity((change.after ?? change.before)!)] : []))
}

/** A setting that is off says nothing about an optimizer. */
function isOn(setting: string | undefined): setting is string {
  return setting !== undefined && setting !== 'None' && setting !== 'False'
}

/** A name for each: the variable, where it tells them apart; else the class; else the class and the settings that differ
 * between optimizers of one class. */
function named(courses: readonly Course[]): Course[] {
  const tells = (labels: readonly string[]): boolean => new Set(labels).size === labels.length
  const variables = courses.map((course) => course.label)
  if (tells(variables)) return [...courses]
  const classes = courses.map((course) => course.optimizer)
  const settings = courses.map((course) => course.steps[0]?.update.settings?.[0] ?? {})
  const detailed = classes.map((name, at) => {
    const alike = settings.filter((_, other) => classes[other] === name)
    const differing = Object.keys(settings[at]!).filter((key) => new Set(alike.map((one) => one[key])).size > 1)
    const said = differing.filter((key) => isOn(settings[at]![key])).map((key) => (settings[at]![key] === 'True' ? key : `${key}=${settings[at]![key]}`))
    return [name, ...said].join(' ')
  })
  const labels = tells(classes) ? classes : tells(detailed) ? detailed : detailed.map((label, at) => `${label} (${at + 1})`)
  return courses.map((course, at) => ({ ...course, label: labels[at]! }))
}

/** What one optimizer's few numbers were over its steps. */
export interface Path {
  course: Course
  /** Names of the coordinates: one or two. */
  names: readonly string[]
  /** Before the first step, then after each. */
  places: readonly { at: readonly number[]; step: number }[]
}

/** The way of a course whose parameters are one or two numbers together; null for larger ones. */
export function pathOf(index: TraceIndex, course: Course): Path | null {
  const first = course.steps[0]?.update
  if (!first) return null
  const before = coordinates(index, first.changes, 'before')
  if (!before || before.values.length < 1 || before.values.length > 2) return null
  const places = [{ at: before.values, step: course.steps[0]!.step - 1 }]
  for (const { update, step } of course.steps) {
    const after = coordinates(index, update.changes, 'after')
    if (after && after.values.length === before.values.length) places.push({ at: after.values, step })
  }
  return { course, names: before.names, places }
}

function coordinates(index: TraceIndex, changes: readonly Change[], when: 'before' | 'after'): { values: number[]; names: string[] } | null {
  const values: number[] = []
  const names: string[] = []
  for (const change of changes) {
    const tensor: Tensor | undefined = index.tensor(change[when])
    if (!tensor?.data || tensor.dtype.startsWith('complex')) return null
    if (values.length + tensor.data.length > 2) return null
    const name = change.name || tensor.names?.[0] || tensor.id
    tensor.data.forEach((value, at) => {
      values.push(wireNumber(value))
      names.push(tensor.data!.length > 1 ? `${name}[${at}]` : name)
    })
  }
  return { values, names }
}

/** The loss each step of a course was taken at, by the count of its steps. */
export function lossesOf(course: Course, curve: readonly Point[]): (number | null)[] {
  const byNumber = new Map(curve.map((point) => [point.number, point.loss]))
  return course.steps.map((step) => byNumber.get(step.number) ?? null)
}

/** Learning rate of a parameter group at a step, when the settings say one. */
export function rateOf(update: Update, group = 0): number | null {
  const rate = Number(update.settings?.[group]?.lr)
  return update.settings?.[group]?.lr !== undefined && Number.isFinite(rate) ? rate : null
}

/** One parameter in an optimizer's step: its values, the gradient used, what is kept for it. */
export interface Row {
  name: string
  change: Change
  state: readonly Change[]
}

/** State by parameter; state that names none comes in an order of its own. */
export function rowsOf(index: TraceIndex, update: Update): { rows: Row[]; loose: readonly Change[] } {
  const byParameter = new Map<string, Change[]>()
  const loose: Change[] = []
  for (const change of update.state ?? []) {
    if (change.parameter == null) loose.push(change)
    else push(byParameter, index.identity(change.parameter), change)
  }
  const rows = update.changes.map((change) => {
    const id = change.after ?? change.before
    return { name: change.name ?? '', change, state: (id != null && byParameter.get(index.identity(id))) || [] }
  })
  return { rows, loose }
}

/** The latest optimizer step that has happened, or else the first that will. */
export function stepShown(courses: readonly Course[], step: number): OptimizerStep | null {
  const all = courses.flatMap((course) => course.steps).sort((a, b) => a.step - b.step)
  return all.findLast((one) => one.step <= step) ?? all[0] ?? null
}
