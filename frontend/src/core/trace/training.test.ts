import { describe, expect, test } from 'vitest'
import type { Trace } from '../../api/types'
import { load } from '../fixtures/load'
import { words } from '../words/bundled'
import { TraceIndex } from './trace-index'
import {
  axesOf, coursesOf, curveOf, gridUnder, handCourse, hasOneLossEach, lossesOf, lossLines, pathOf, rateOf, ratesOf,
  rowsOf, sampleOf, stepShown,
} from './training'

// Two optimizers from the same start on f(w) = w²: SGD with lr 0.1 gives 2 → 1.6 → 1.28, worked out by hand; with
// momentum 0.5 the second step is 1.6 − 0.1 · (3.2 + 0.5 · 4) = 1.08.
const number = (id: string, identity: string | null, value: number, name: string) => ({
  id,
  shape: [],
  dtype: 'float32',
  role: 'leaf',
  data: [value],
  names: [name],
  ...(identity ? { identity } : {}),
})
const step = (id: string, variable: string | null, changes: object[], more: object = {}) => ({
  id,
  kind: 'step',
  optimizer: 'SGD',
  variable,
  changes,
  ...more,
})

function trace(variables: readonly (string | null)[], settings: readonly Record<string, string>[]): Trace {
  const tensors = [
    number('a1', null, 2, 'a'), number('a2', 'a1', 1.6, 'a'), number('a3', 'a1', 1.28, 'a'),
    number('b1', null, 2, 'b'), number('b2', 'b1', 1.6, 'b'), number('b3', 'b1', 1.08, 'b'),
    number('m1', null, 4, 'm'), number('m2', 'm1', 5.2, 'm'),
  ]
  const updates = [
    step('u1', variables[0]!, [{ before: 'a1', after: 'a2', name: 'a' }], { settings: [settings[0]] }),
    step('u2', variables[1]!, [{ before: 'b1', after: 'b2', name: 'b' }], { settings: [settings[1]] }),
    step('u3', variables[0]!, [{ before: 'a2', after: 'a3', name: 'a' }], { settings: [settings[0]] }),
    step('u4', variables[1]!, [{ before: 'b2', after: 'b3', name: 'b' }], {
      settings: [settings[1]],
      state: [
        { before: 'm1', after: 'm2', name: 'momentum_buffer', parameter: 'b1' },
        { before: null, after: null, before_text: '1', after_text: '2', name: 'step' },
      ],
    }),
  ]
  const passes = ['p1', 'p2', 'p3', 'p4'].map((id) => ({
    id, kind: 'backward', roots: [], visits: [], accumulations: [],
  }))
  const timeline = passes.flatMap((pass, at) => [
    { kind: 'pass', pass: pass.id }, { kind: 'pass_end', pass: pass.id }, { kind: 'update', update: `u${at + 1}` },
  ])
  const curve = [4, 4, 2.56, 2.56].map((loss, at) => ({ number: at + 1, pass: at === 2 ? null : `p${at + 1}`, loss }))
  return { tensors, ops: [], nodes: [], passes, updates, timeline, modules: [], curve } as unknown as Trace
}

const both = new TraceIndex(trace(['plain', 'heavy'], [{ lr: '0.1', momentum: '0' }, { lr: '0.1', momentum: '0.5' }]))

describe('courses', () => {
  test('one for each optimizer, named by its variable', () => {
    const courses = coursesOf(both)
    expect(courses.map((course) => course.label)).toEqual(['plain', 'heavy'])
    expect(courses.map((course) => course.steps.map((one) => one.step))).toEqual([[3, 9], [6, 12]])
  })

  test('where a loop reuses the variable, what differs names them', () => {
    const loop = new TraceIndex(
      trace(
        ['optimizer', 'optimizer'],
        [
          { lr: '0.1', momentum: '0' }, { lr: '0.1', momentum: '0.5' },
        ],
      ),
    )
    expect(coursesOf(loop).map((course) => course.label)).toEqual(['SGD momentum=0', 'SGD momentum=0.5'])
    const alike = new TraceIndex(trace(['optimizer', 'optimizer'], [{ lr: '0.1' }, { lr: '0.1' }]))
    expect(coursesOf(alike).map((course) => course.label)).toEqual(['SGD (1)', 'SGD (2)'])
  })

  test('the way of one number, from before the first step', () => {
    const [plain, heavy] = coursesOf(both)
    expect(pathOf(both, plain!)?.places).toEqual([
      { at: [2], step: 2 }, { at: [1.6], step: 3 }, { at: [1.28], step: 9 },
    ])
    expect(pathOf(both, heavy!)?.places.map((place) => place.at[0])).toEqual([2, 1.6, 1.08])
  })

  test('three numbers have no way on a plane', () => {
    const wide = trace(['plain', 'heavy'], [{}, {}])
    wide.tensors[0] = { ...wide.tensors[0]!, shape: [3], data: [1, 2, 3] }
    const index = new TraceIndex(wide)
    expect(pathOf(index, coursesOf(index)[0]!)).toBeNull()
  })

  const surface = {
    across: { tensor: 'a1', place: [2], values: [0, 1, 2] }, up: { tensor: 'a1', place: [0], values: [5, 6] },
    values: [1, 2, 3, 4, 5, 'inf'], numbers: 3,
  }

  test('of three numbers the way of two that were chosen, in the order they were chosen in', () => {
    const wide = trace(['plain', 'heavy'], [{}, {}])
    wide.tensors.splice(
      0,
      3,
      ...[
        [1, 2, 3], [4, 5, 6], [7, 8, 9],
      ].map((data, at) => ({ ...wide.tensors[at]!, shape: [3], data })),
    )
    const index = new TraceIndex(wide)
    const path = pathOf(index, coursesOf(index)[0]!, axesOf(index, surface))
    expect(path?.names).toEqual(['a[2]', 'a[0]'])
    expect(path?.places.map((place) => place.at)).toEqual([
      [3, 1], [6, 4], [9, 7],
    ])
    expect(gridUnder(index, surface, path!.numbers)).toEqual({
      xs: [0, 1, 2], ys: [5, 6], values: [1, 2, 3, 4, 5, Infinity],
    })
    expect(gridUnder(index, surface, [...path!.numbers].reverse())).toEqual({
      xs: [5, 6], ys: [0, 1, 2], values: [1, 4, 2, 5, 3, Infinity],
    })
    expect(
      gridUnder(index, surface, [
        { tensor: 'b1', name: 'b', element: 2 }, { tensor: 'b1', name: 'b', element: 0 },
      ]),
    ).toBeNull()
    expect(gridUnder(index, null, path!.numbers)).toBeNull()
    expect(
      pathOf(index, coursesOf(index)[1]!, [
        { tensor: 'z', name: 'b', element: 0 }, { tensor: 'z', name: 'b', element: 1 },
      ])?.places[0]?.at,
    ).toEqual([2])
  })

  describe('without an optimizer', () => {
    const pass = (id: string, tensor: string) => ({
      id, kind: 'backward', roots: [], visits: [],
      accumulations: [{ tensor, node: 'n', visit: 0, before: null, delta: null, after: null }],
    })
    const of = (tensors: object[], leaves: string[]) => {
      const passes = leaves.map((tensor, at) => pass(`p${at + 1}`, tensor))
      const timeline = passes.flatMap((one) => [
        { kind: 'op' }, { kind: 'pass', pass: one.id }, { kind: 'pass_end', pass: one.id },
      ])
      return new TraceIndex({
        tensors, ops: [], nodes: [], passes, updates: [], timeline, modules: [],
      } as unknown as Trace)
    }

    test('a leaf written in place goes from pass to pass', () => {
      const index = of(
        [number('t1', null, 2, 'w'), number('t2', 't1', 1.5, 'w'), number('t3', 't1', 1, 'w')], ['t1', 't1', 't1'],
      )
      const course = handCourse(index, (_, step) => index.tensor(step < 5 ? 't1' : step < 8 ? 't2' : 't3'))
      expect(pathOf(index, course!)?.places).toEqual([
        { at: [2], step: 4 }, { at: [1.5], step: 5 }, { at: [1], step: 8 },
      ])
    })

    test('nothing moves where nothing is written', () => {
      const same = of([number('t1', null, 2, 'w')], ['t1', 't1', 't1'])
      expect(handCourse(same, (id) => same.tensor(id))).toBeNull()
    })
  })

  test('the loss of a step is that of the pass before it, also of one that was not kept', () => {
    const [plain, heavy] = coursesOf(both)
    expect(lossesOf(plain!, curveOf(both.trace))[0]).toBe(4)
    expect(lossesOf(heavy!, curveOf(both.trace))).toEqual([4, 2.56])
    const curve = curveOf(both.trace)
    expect(hasOneLossEach(both, coursesOf(both), curve)).toBe(true)
    const halves = curve.map((point) => ({ ...point, number: point.number - 0.5 }))
    expect(hasOneLossEach(both, coursesOf(both), [...halves, ...curve])).toBe(false)
    expect(hasOneLossEach(both, [plain!, plain!], curve)).toBe(false)
  })
})

test('rates are read as Python prints them', () => {
  const [plain] = coursesOf(both)
  expect(rateOf(plain!.steps[0]!.update)).toBe(0.1)
  expect(rateOf({ id: 'u', kind: 'step', changes: [] })).toBeNull()
  expect(rateOf({ id: 'u', kind: 'step', changes: [], settings: [{ lr: 'tensor(0.1)' }] })).toBeNull()
})

test('rates that change are told by group where groups differ', () => {
  const [course] = coursesOf(both)
  const of = (...rates: string[][]) =>
    ratesOf({
      ...course!, steps: rates.map((all, number) => ({
        ...course!.steps[0]!, number, update: { ...course!.steps[0]!.update, settings: all.map((lr) => ({ lr })) },
      })),
    }).map(({ group, points }) => [group, ...points.map(({ y }) => y)])
  expect(of(['0.5'], ['0.5'])).toEqual([])
  expect(of(['0.5', '0.5'], ['0.1', '0.1'])).toEqual([[null, 0.5, 0.1]])
  expect(of(['0.5', '0.2'], ['0.1', '0.2'])).toEqual([[0, 0.5, 0.1]])
  expect(of(['0.5', '0.2'], ['0.1', '0.1'])).toEqual([[0, 0.5, 0.1], [1, 0.2, 0.1]])
  expect(of([])).toEqual([])
})

test('state stands with its parameter; state of none stands alone', () => {
  const { rows, loose } = rowsOf(both, both.updates.get('u4')!)
  expect(rows.map((row) => [row.name, row.state.map((change) => change.name)])).toEqual([['b', ['momentum_buffer']]])
  expect(loose.map((change) => change.after_text)).toEqual(['2'])
})

test('the step shown is the latest that has happened, or the first', () => {
  const courses = coursesOf(both)
  expect(stepShown(courses, 7)?.update.id).toBe('u2')
  expect(stepShown(courses, 0)?.update.id).toBe('u1')
  expect(stepShown([], 3)).toBeNull()
})

test('each line that calls the engine has its own values, by the name of its root', () => {
  const { trace } = load('accumulation')
  const index = new TraceIndex(trace)
  const lines = lossLines(index, curveOf(trace), words('en'))
  expect(lines.map(({ label, points }) => [label, points.map(({ loss }) => loss)])).toEqual([
    ['first', [5]], ['second', [-3]], ['third', [-3]],
  ])
  const looped = curveOf(trace).map((point) => ({ ...point, line: point.line! > 6 ? 10 : 6 }))
  expect(lossLines(index, looped, words('en')).map(({ points }) => points.length)).toEqual([1, 2])
  const [roots] = trace.passes.map((pass) => pass.roots)
  const same = new TraceIndex({ ...trace, passes: trace.passes.map((pass) => ({ ...pass, roots: roots! })) })
  expect(lossLines(same, looped, words('en')).map(({ label }) => label)).toEqual(['first · line 6', 'first · line 10'])
})

test('of passes left out some are points of the curve', () => {
  const whole = trace(['a', 'b'], [{}, {}])
  const points = curveOf(whole)
  const kept = { ...whole, passes: whole.passes.filter(({ id }) => id !== 'p3') }
  const gap = (passes: number) => ({ ...kept, gaps: [{ passes, ops: 1 }] })
  expect(sampleOf(gap(1), points)).toEqual({ all: 4, points: 4, kept: 3 })
  expect(sampleOf(gap(7), points)).toEqual({ all: 10, points: 4, kept: 3 })
  expect(sampleOf(kept, points.filter(({ pass }) => pass !== null))).toBeNull()
})
