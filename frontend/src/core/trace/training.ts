// Training as curves: the loss of every pass, what an optimizer's steps did to few numbers, and what it keeps.

import type { Change, Surface, Tensor, Trace, Update } from '../../api/types'
import { wireNumber } from '../words/format'
import { tensorName } from './naming'
import { push, type TraceIndex } from './trace-index'
import type { Words } from '../words/sentences'

/** A function of two numbers, where it was evaluated. */
export interface Grid {
  xs: readonly number[]
  ys: readonly number[]
  /** Row after row of `xs`. */
  values: readonly number[]
}

/** A call of the engine on the curve. */
export interface Point {
  number: number
  /** Its pass, when that was kept and can be looked at. */
  pass: string | null
  loss: number | null
  gradientNorm: number | null
  /** Where the program calls the engine. */
  line: number | null
}

export function curveOf(trace: Trace): Point[] {
  return (trace.curve ?? []).map((point) => ({
    number: point.number,
    pass: point.pass ?? null,
    loss: point.loss == null ? null : wireNumber(point.loss),
    gradientNorm: point.gradient_norm == null ? null : wireNumber(point.gradient_norm),
    line: point.span?.line ?? null,
  }))
}

/** How many passes there were, how many of them are points of the curve, and how many of these were kept whole; null
 *  where that is all the same. */
export function sampleOf(trace: Trace, curve: readonly Point[]): { all: number; points: number; kept: number } | null {
  const all = trace.passes.length + (trace.gaps ?? []).reduce((sum, gap) => sum + gap.passes, 0)
  const kept = curve.filter(({ pass }) => pass !== null).length
  return kept < all && curve.length > 0 ? { all, points: curve.length, kept } : null
}

/** The losses of each line that calls the engine, by the name of what it calls it on: a program may ask it for several
 *  things. */
export function lossLines(index: TraceIndex, curve: readonly Point[], t: Words): { label: string; points: Point[] }[] {
  const byLine = new Map<number | null, Point[]>()
  for (const point of curve) if (point.loss !== null) push(byLine, point.line, point)
  const lines = [...byLine].map(([line, points]) => {
    const root = index.passes.get(points.find(({ pass }) => pass !== null)?.pass ?? '')?.roots[0]
    return { line, points, name: tensorName(index, index.tensor(root?.tensor)) || t('training.loss') }
  })
  return lines.map(({ line, points, name }) => {
    const isShared = line !== null && lines.some((other) => other.line !== line && other.name === name)
    return { label: isShared ? `${name} · ${t('inspect.line', { line })}` : name, points }
  })
}

/** One step of an optimizer, placed in the run. */
interface OptimizerStep {
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
    return {
      label: first.variable ?? first.optimizer ?? '', optimizer: first.optimizer ?? '',
      parameters: parametersOf(index, first), steps: list,
    }
  })
  return named(courses)
}

function stepsByOptimizer(index: TraceIndex): Map<string, OptimizerStep[]> {
  const numbers = new Map<string, number>(
    (index.trace.curve ?? []).flatMap((point) => (point.pass != null ? [[point.pass, point.number] as const] : [])),
  )
  index.trace.passes.forEach((pass, at) => {
    if (!numbers.has(pass.id)) numbers.set(pass.id, at + 1)
  })
  const found = new Map<string, OptimizerStep[]>()
  let number = 0
  index.trace.timeline.forEach((event, at) => {
    if (event.kind === 'pass_end' && event.pass != null) number = numbers.get(event.pass) ?? number
    const update = event.update != null ? index.updates.get(event.update) : undefined
    if (update?.kind !== 'step' || update.changes.length === 0) return
    push(found, `${update.variable ?? ''} ${update.optimizer ?? ''} ${parametersOf(index, update).join(' ')}`, {
      update, step: at + 1, number,
    })
  })
  return found
}

function parametersOf(index: TraceIndex, update: Update): string[] {
  return update.changes.flatMap((change) =>
    (change.after ?? change.before) ? [index.identity((change.after ?? change.before)!)] : [],
  )
}

/** A setting that is off says nothing about an optimizer. */
function isOn(setting: string | undefined): setting is string {
  return setting !== undefined && setting !== 'None' && setting !== 'False'
}

/** The leaves of a program that trains without an optimizer and writes into them, from pass to pass. `stateAt` says
 *  what a tensor was at a step. */
export function handCourse(
  index: TraceIndex, stateAt: (tensor: string, step: number) => Tensor | undefined,
): Course | null {
  const passes = index.trace.passes.filter((pass) => pass.parent == null && pass.accumulations.length > 0)
  const leaves = [...new Set(passes[0]?.accumulations.map(({ tensor }) => index.identity(tensor)))]
  leaves.sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)))
  const steps = passes.flatMap((pass, at): OptimizerStep[] => {
    const end = passes[at + 1] ? index.passStart(passes[at + 1]!.id) : index.trace.timeline.length
    const changes = leaves.map((leaf): Change => {
      const [before, after] = [stateAt(leaf, index.passStart(pass.id)), stateAt(leaf, end)]
      return { name: index.tensor(leaf)?.names?.[0] ?? '', before: before?.id ?? leaf, after: after?.id ?? leaf }
    })
    if (changes.every(({ before, after }) => before === after)) return []
    return [{ update: { id: `hand${at}`, kind: 'data', changes }, step: end, number: at + 1 }]
  })
  return steps.length > 1 ? { label: '', optimizer: '', parameters: leaves, steps } : null
}

/** A name for each: the variable, where it tells them apart; else the class; else the class and the settings that
 *  differ between optimizers of one class. */
function named(courses: readonly Course[]): Course[] {
  const tells = (labels: readonly string[]): boolean => new Set(labels).size === labels.length
  const variables = courses.map((course) => course.label)
  if (tells(variables)) return [...courses]
  const classes = courses.map((course) => course.optimizer)
  const settings = courses.map((course) => course.steps[0]?.update.settings?.[0] ?? {})
  const detailed = classes.map((name, at) => {
    const alike = settings.filter((_, other) => classes[other] === name)
    const differing = Object.keys(settings[at]!).filter((key) => new Set(alike.map((setting) => setting[key])).size > 1)
    const said = differing
      .filter((key) => isOn(settings[at]![key]))
      .map((key) => (settings[at]![key] === 'True' ? key : `${key}=${settings[at]![key]}`))
    return [name, ...said].join(' ')
  })
  const labels = tells(classes)
    ? classes
    : tells(detailed)
      ? detailed
      : detailed.map((label, at) => `${label} (${at + 1})`)
  return courses.map((course, at) => ({ ...course, label: labels[at]! }))
}

/** One number: an element of a tensor. */
interface Coordinate {
  /** Identity of the tensor. */
  tensor: string
  /** Its name, for the tensors of other optimizers that stand for the same number. */
  name: string
  /** Which element, counted through. */
  element: number
}

/** What one optimizer's few numbers were over its steps. */
export interface Path {
  course: Course
  /** Names of the coordinates: one or two. */
  names: readonly string[]
  numbers: readonly Coordinate[]
  /** Before the first step, then after each. */
  places: readonly { at: readonly number[]; step: number }[]
}

/** The way of a course whose parameters are one or two numbers together, or of two chosen among more; else null. */
export function pathOf(index: TraceIndex, course: Course, chosen: readonly Coordinate[] = []): Path | null {
  const first = course.steps[0]?.update
  if (!first) return null
  const all = numbersOf(index, first.changes)
  const few = all.length <= 2 && first.changes.every((change) => index.tensor(change.before ?? change.after)?.data)
  const numbers = few
    ? all
    : chosen.flatMap(
        (wanted) =>
          all.find((place) => place.tensor === wanted.tensor && place.element === wanted.element) ??
          all.find((place) => place.name === wanted.name && place.element === wanted.element) ??
          [],
      )
  if (numbers.length < (few ? 1 : 2)) return null
  const places: Path['places'][number][] = []
  for (const [at, { update, step }] of course.steps.entries()) {
    const before = at === 0 ? valuesOf(index, update.changes, 'before', numbers) : null
    const after = valuesOf(index, update.changes, 'after', numbers)
    if (before) places.push({ at: before, step: step - 1 })
    if (after) places.push({ at: after, step })
  }
  const names = numbers.map(({ tensor, name, element }) =>
    elementsOf(index, tensor) > 1 ? `${name}[${element}]` : name,
  )
  return places.length > 0 ? { course, names, numbers, places } : null
}

/** Every number among changed tensors that were kept in full. */
function numbersOf(index: TraceIndex, changes: readonly Change[]): Coordinate[] {
  return changes.flatMap((change) => {
    const tensor: Tensor | undefined = index.tensor(change.before ?? change.after)
    if (!tensor?.data || tensor.dtype.startsWith('complex')) return []
    const name = change.name || tensorName(index, tensor)
    return tensor.data.map((_, element) => ({ tensor: index.identity(tensor.id), name, element }))
  })
}

function valuesOf(
  index: TraceIndex, changes: readonly Change[], when: 'before' | 'after', numbers: readonly Coordinate[],
): number[] | null {
  const found = new Map(
    changes.flatMap((change) => {
      const tensor = index.tensor(change[when])
      return tensor ? [[change.name || tensor.id, tensor] as const, [index.identity(tensor.id), tensor] as const] : []
    }),
  )
  const values = numbers.map(({ tensor, name, element }) => (found.get(tensor) ?? found.get(name))?.data?.[element])
  return values.some((value) => value === undefined) ? null : values.map((value) => wireNumber(value!))
}

function elementsOf(index: TraceIndex, tensor: string): number {
  return (index.tensor(tensor)?.shape ?? []).reduce((product, size) => product * size, 1)
}

/** The two numbers a surface was evaluated over. */
export function axesOf(index: TraceIndex, surface: Surface | null | undefined): readonly Coordinate[] {
  return [surface?.across, surface?.up].flatMap((axis) => {
    if (!axis) return []
    const tensor = index.tensor(axis.tensor)
    const element = axis.place.reduce((flat, at, axisNumber) => flat * (tensor?.shape[axisNumber] ?? 1) + at, 0)
    return [{ tensor: index.identity(axis.tensor), name: tensor?.names?.[0] ?? '', element }]
  })
}

/** The values of a surface on the plane of a path, whichever way round it has its numbers; null where it has others. */
export function gridUnder(
  index: TraceIndex, surface: Surface | null | undefined, numbers: readonly Coordinate[],
): Grid | null {
  const [across, up] = axesOf(index, surface)
  if (!surface?.across || !surface.up || !across || !up || numbers.length !== 2) return null
  const { across: xs, up: ys } = surface
  const is = (axis: Coordinate, number: Coordinate | undefined) =>
    axis.element === number?.element && (axis.tensor === number.tensor || axis.name === number.name)
  const values = (surface.values ?? []).map(wireNumber)
  if (is(across, numbers[0]) && is(up, numbers[1])) return { xs: xs.values, ys: ys.values, values }
  if (!is(across, numbers[1]) || !is(up, numbers[0])) return null
  const width = xs.values.length
  return {
    xs: ys.values, ys: xs.values,
    values: xs.values.flatMap((_, x) => ys.values.map((__, y) => values[y * width + x]!)),
  }
}

/** The loss each step of a course was taken at, by the count of its steps. */
export function lossesOf(course: Course, curve: readonly Point[]): (number | null)[] {
  const byNumber = new Map(curve.map((point) => [point.number, point.loss]))
  return course.steps.map((step) => byNumber.get(step.number) ?? null)
}

/** Whether each step follows one loss of its own: of a step after several backward passes none of them is the loss, and
 *  optimizers that step after the same one share it. */
export function hasOneLossEach(index: TraceIndex, courses: readonly Course[], curve: readonly Point[]): boolean {
  const followed = courses.flatMap(({ steps }) => steps.map(({ number }) => number))
  const used = new Set(followed)
  const last = Math.max(...used)
  return used.size === followed.length && curve.every(({ number, pass, loss }) =>
    loss === null || number > last || used.has(number) || index.passes.get(pass ?? '')?.kind !== 'backward')
}

/** Learning rate of a parameter group at a step, when the settings say one. */
export function rateOf(update: Update, group = 0): number | null {
  const rate = Number(update.settings?.[group]?.lr)
  return update.settings?.[group]?.lr !== undefined && Number.isFinite(rate) ? rate : null
}

/** The learning rates of an optimizer that change, of each parameter group where they differ. */
export function ratesOf({ label, steps }: Course): { label: string; group: number | null; points: Rate[] }[] {
  const groups = Math.max(...steps.map(({ update }) => update.settings?.length ?? 0))
  const all = Array.from({ length: groups }, (_, group) =>
    steps.map(({ number, update }) => ({ x: number, y: rateOf(update, group), kept: true })))
  const areOne = all.every((points) => points.every(({ y }, at) => y === all[0]![at]!.y))
  return all.slice(0, areOne ? 1 : groups).flatMap((points, group) =>
    points.some(({ y }) => y !== null && y !== points[0]!.y) ? [{ label, group: areOne ? null : group, points }] : [])
}

interface Rate {
  x: number
  y: number | null
  kept: boolean
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
  return all.findLast((taken) => taken.step <= step) ?? all[0] ?? null
}
