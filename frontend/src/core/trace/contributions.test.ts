import { expect, test } from 'vitest'
import type { Node, Trace } from '../../api/types'
import { load } from '../fixtures/load'
import {
  addedUp, amount, contributions, hookedAt, inRuns, nthOf, pathsOf, ranked, returnedFor, senderName, sumOf,
} from './contributions'
import { element, isSumOf, largestAt } from './local'
import { codeOf, elements } from './naming'
import { TraceIndex } from './trace-index'

/** Their numbers are rounded to some four digits. */
const ROUNDED = 2e-3
const lessons = import.meta.glob<Trace>('../../../../gallery/*.json', { eager: true, import: 'default' })

function lesson(name: string): TraceIndex {
  return new TraceIndex(lessons[`../../../../gallery/${name}.json`]!)
}

/** Each path to an element of a leaf's gradient in its first pass, as one reads it. */
function told(index: TraceIndex, leaf: string, cell = 0): string[] {
  const pass = index.trace.passes[0]!
  const added = pass.accumulations.find(({ tensor }) => index.tensor(tensor)?.names?.includes(leaf))!
  return contributions(index, pass, added).flatMap((contribution) =>
    pathsOf(index, pass, contribution, cell).map(({ start, factors, value }) => {
      const steps = factors.flatMap(({ text, node, rounded, made }) => [
        made ? `${made.by} ${made.value}` : `×${text} (${node.type.replace(/Backward\d/, '')})`, ...rounded ? [`${rounded.dtype} ${rounded.value}`] : [],
      ])
      return [`${start.kind} ${start.value}`, ...steps, value].join(' → ')
    }),
  )
}

test.each([
  ['2 1 1 3 1 1 1 4', '2 1 1 3 1 4'],
  ['0.5 0.5 0.5 2 2', '0.5³ 2 2'],
  ['3 0.9 1 0.9 1 0.9 1 0.9', '3 0.9³ 0.9'],
  ['0.9 −1.1 0.9 −1.1 0.9 −1.1', '(0.9·(−1.1))³'],
  ['−2 −2 −2 2·3 2·3 2·3', '(−2)³ (2·3)³'],
])('factors %s are told as %s', (texts, told) => {
  const factors = texts.split(' ').map((text) => ({ node: {} as Node, value: text.length, text, place: '' }))
  const runs = inRuns(factors)
  expect(runs.map(({ text }) => text).join(' ')).toBe(told)
  expect(runs.flatMap((run) => run.factors)).toEqual(factors)
})

test('factors that only read the same are told one by one', () => {
  const factors = [0.99912, 0.99913, 0.99914].map((value) => ({ node: {} as Node, value, text: '0.9991', place: '' }))
  expect(inRuns(factors)).toHaveLength(3)
})

test('the factors along a path lead from the seed to the gradient', () => {
  expect(told(lesson('mean_grad'), 'x')).toEqual(['seed 1 → ×¼ (Mean) → ×3 (Mul) → ×2·3 (Pow) → ×1 (Add) → 4.5'])
  expect(told(lesson('diamond'), 'x')).toEqual([
    'seed 1 → ×6 (Mul) → ×2·3 (Pow) → 36', 'seed 1 → ×9 (Mul) → ×2 (Mul) → 18',
  ])
})

test('a path goes on through a backward of the program, whose factor nobody knows', () => {
  expect(told(lesson('custom_function'), 'x', 1)).toEqual([
    'seed 1 → ×1 (Sum) → ×2 (Mul) → backward 2 → 2',
  ])
})

test('a node inside a call without a name is told by the call too', () => {
  const { trace } = load('scalar_expression')
  const op = trace.ops.find(({ nodes }) => nodes.length > 0)!
  const inner = { id: 'inner', type: 'SelectBackward0', op: op.id, edges: [] }
  const index = new TraceIndex({ ...trace, nodes: [...trace.nodes, inner] })
  expect(senderName(index, inner)).toBe(`SelectBackward0 · ${codeOf(index, op)}`)
  expect(senderName(index, index.node(op.nodes[0])!)).toBe(codeOf(index, op))
})

test('a path goes on through what a hook made', () => {
  expect(told(new TraceIndex(load('hooks').trace), 'x', 2)).toEqual([
    'seed 1 → ×1 (Sum) → ×4 (Mul) → hook 2.5 → ×2·3 (Pow) → 15',
  ])
})

test('what hooks made of a gradient is told by each of them, in turn', () => {
  const { trace } = load('hooks')
  const [pass] = trace.passes
  const at = pass!.visits.findIndex(({ sums }) => sums?.[0]?.hooked)
  const { total, entered } = pass!.visits[at]!.sums![0]!
  const calls = [['t0', 't1'], [total, 'between'], ['between', entered], ['between', 'elsewhere']].map(
    ([before, after], n) => ({ ...trace.hooks![0]!, id: `h${n}`, before, after }),
  )
  const index = new TraceIndex({ ...trace, hooks: calls })
  expect(hookedAt(index, pass!, at, 0)?.map(({ id }) => id)).toEqual(['h1', 'h2'])
  expect(hookedAt(index, pass!, 0, 0)).toBeNull()
})

test.each([[3, '2·3'], [-3, '2·(−3)']])('parallel edges of one node at %d are one factor', (x, factor) => {
  const { trace } = load('scalar_expression')
  const [op] = trace.ops.filter(({ nodes }) => nodes.length > 0)
  const text = (id: string, data: number) => ({
    id, shape: [], dtype: 'float32', role: 'gradient' as const, data: [data],
  })
  const index = new TraceIndex({
    ...trace,
    ops: [{ ...op!, id: 'o1', outputs: [], nodes: ['n1'] }],
    tensors: [{ ...text('t1', x), names: ['x'] }, text('t2', 1), text('t3', x), text('t4', 2 * x)],
    nodes: [
      {
        id: 'n1', type: 'MulBackward0', op: 'o1', edges: [{ to: 'n2', input_nr: 0 }, { to: 'n2', input_nr: 0 }],
        saved: [{ field: 'self', tensor: 't1' }, { field: 'other', tensor: 't1' }],
      },
      { id: 'n2', type: 'AccumulateGrad', edges: [], variable: 't1' },
    ],
    passes: [{
      ...trace.passes[0]!, roots: [{ node: 'n1', input_nr: 0, tensor: null, seed: 't2' }],
      visits: [
        { node: 'n1', entered: ['t2'], left: ['t3', 't3'] },
        { node: 'n2', entered: ['t4'], left: [], sums: [{ input_nr: 0, total: 't4', entered: 't4', terms: [
          { node: 'n1', slot: 0, tensor: 't3' }, { node: 'n1', slot: 1, tensor: 't3' },
        ] }] },
      ],
      accumulations: [{ tensor: 't1', node: 'n2', visit: 1, before: null, delta: 't4', after: 't4' }],
    }],
  })
  const pass = index.trace.passes[0]!
  const [both, ...more] = contributions(index, pass, pass.accumulations[0]!)
  expect(more).toEqual([])
  const [path] = pathsOf(index, pass, both!, 0)
  expect([path?.factors.map(({ text }) => text), path?.value]).toEqual([[factor], 2 * x])
})

test('an element that was summed has a path for each part, in a product of matrices and after broadcasting', () => {
  expect(told(lesson('tensor_expression'), 'a')[0]).toBe('seed 1 → ×1 (Sum) → ×1 (Relu) → ×1 (Sub) → ×0.5 (Mm) → 0.5')
  const discount = told(lesson('broadcasting'), 'discount')
  expect(discount.length).toBeGreaterThan(1)
  for (const path of discount) expect(path).toMatch(/^seed .* \(Mul\) → /)
})

test('what an op copied, joined, turned or multiplied by one number has a factor', () => {
  const index = new TraceIndex(load('one_factor_each').trace)
  const cells = Array.from({ length: 9 }, (_, cell) => cell)
  const paths = cells.flatMap((cell) => ['x', 'y', 'm'].flatMap((leaf) => told(index, leaf, cell)))
  for (const path of paths) expect(path).toMatch(/^(seed|\w+ 0) /)
  const nodes = 'Flip Stack Cat Sort Index Lerp Xlogy Addcmul Atan2 Logaddexp Prod Max Logsumexp Std Topk Roll ' +
    'SplitWithSizes Rot90 Unbind Tril Repeat Unfold Diagonal Expand Cumsum Triu Permute ConstantPadNd LogSoftmax ' +
    'NllLoss Softmax Median Trace Pow Log1P'
  for (const node of nodes.split(' ')) expect(paths.join()).toContain(`(${node})`)
})

test('what autograd.grad returned for a leaf comes together from what was sent to it', () => {
  const index = new TraceIndex(load('double_backward').trace)
  const [first] = index.trace.passes
  const leaf = first!.inputs![0]!
  expect(returnedFor(index, leaf, index.passEnd(first!.id) - 1)).toBeNull()
  const { pass, gradient, parts } = returnedFor(index, leaf, index.passEnd(first!.id))!
  expect([pass, gradient.id]).toEqual([first, first!.results![0]])
  const values = parts.flatMap((part) => pathsOf(index, pass, part, 0)).map(({ value }) => value)
  expect(isSumOf(values, element(gradient, 0)!, 'float32')).toBe(true)
})

test('paths of one contribution are added up, and those that brought nothing are counted', () => {
  const index = new TraceIndex(load('one_factor_each').trace)
  const [path] = pathsOf(index, index.trace.passes[0]!, contributions(
    index, index.trace.passes[0]!, index.trace.passes[0]!.accumulations[0]!)[0]!, 0)
  const paths = [0, 2, 0, 3].map((value) => ({ ...path!, value }))
  const { told, zeros, sum } = addedUp(paths, 5)
  expect([told.map(({ value }) => value), zeros, sum]).toEqual([[2, 3], 2, '2 + 3 = 5'])
  expect(addedUp(paths.slice(0, 1), 0)).toEqual({ told: paths.slice(0, 1), zeros: 0, sum: null })
  expect(addedUp(paths, 7).sum).toBeNull()
})

test('a sum of too many products is told by their number', () => {
  const starts = Object.values(lessons).flatMap((trace) => {
    const index = new TraceIndex(trace)
    return trace.passes.flatMap((pass) => pass.accumulations.flatMap((added) =>
      contributions(index, pass, added).flatMap((part) => pathsOf(index, pass, part, 0).map(({ start }) => start))))
  })
  expect(starts.some(({ kind, products }) => kind === 'node' && products > 6)).toBe(true)
})

test('a write that autograd could not see leaves the factor it used, not the one it saw', () => {
  for (const path of told(lesson('data_edit'), 'x')) expect(path).not.toContain('2·1 ')
})

test('contributions are told by size, and those that brought nothing are counted', () => {
  const { trace } = load('accumulation')
  const part = (value: number) =>
    ({ node: null, tensors: [{ ...trace.tensors[0]!, shape: [], data: [value] }], visit: 0, slots: [0] })
  const [none, small, also, large] = [part(0), part(0.5), part(0), part(-2)]
  expect(ranked([none, small, also, large], 0)).toEqual({ told: [large, small], zeros: 2 })
  expect(ranked([none, also], 0)).toEqual({ told: [none], zeros: 1 })
})

test('what came together is told as a sum only where it is what the leaf got', () => {
  const { trace } = load('accumulation')
  const delta = { ...trace.tensors[0]!, shape: [], data: [2] }
  const part = (value: number) => ({ node: null, tensors: [{ ...delta, data: [value] }], visit: 0, slots: [0] })
  expect(sumOf([part(-3), part(5)], delta, 0)).toBe('−3 + 5 = 2')
  expect(sumOf([part(2.458e-5), part(2)], delta, 0)).toBe('2.458e−5 + 2 ≈ 2')
  expect(sumOf([part(1), part(-3), part(2), part(1), part(4), part(-3)], delta, 0)).toBe(
    '1 + (−3) + 2 + 1 + 4 + (−3) = 2',
  )
  expect(sumOf([part(3), part(5)], delta, 0)).toBeNull()
  expect(sumOf([part(2)], delta, 0)).toBeNull()
})

test.each(Object.entries(lessons))('contributions and paths of %s make up its gradients', (_, trace) => {
  const index = new TraceIndex(trace)
  for (const pass of trace.passes) {
    for (const added of pass.accumulations) {
      const delta = index.tensor(added.delta)
      const parts = contributions(index, pass, added)
      if (!delta?.data || delta.dtype.startsWith('complex')) continue
      for (let cell = 0; cell < Math.min(elements(delta), 12); cell += 1) {
        const amounts = parts.map((part) => amount(part, cell))
        const size = amounts.reduce<number>((sum, value) => sum + Math.abs(value ?? 0), 0)
        const total = amounts.reduce<number>((sum, value) => sum + (value ?? 0), 0)
        if (!hookedAt(index, pass, added.visit, 0) && !amounts.includes(null))
          expect(Math.abs(total - element(delta, cell)!)).toBeLessThanOrEqual(ROUNDED * size)
        for (const [at, part] of parts.entries()) {
          const paths = pathsOf(index, pass, part, cell)
          const sum = paths.reduce((all, path) => all + path.value, 0)
          const whole = paths.reduce((all, path) => all + Math.abs(path.value), 0)
          if (amounts[at] != null) expect(Math.abs(sum - amounts[at])).toBeLessThanOrEqual(ROUNDED * whole)
          for (const { start, factors, value } of paths) {
            if (factors.some(({ text }) => !text)) continue // a backward of the program's own
            const product = factors.reduce((all, factor) => all * factor.value, start.value)
            expect(isSumOf([product], value, 'float64')).toBe(true)
          }
        }
      }
    }
  }
})

/** A gradient of 10.1 that goes back by a factor of 3.3 and a copy to a type, or of two elements that it adds up. */
function shortened(dtype: string, isSum = false): TraceIndex {
  const { trace } = load('scalar_expression')
  const [op] = trace.ops.filter(({ nodes }) => nodes.length > 0)
  const tensor = (id: string, data: number[], dtype = 'float32') => ({
    id, shape: [data.length], dtype, role: 'gradient' as const, data,
  })
  const [seed, sent] = isSum ? [[1.01, 9.09], [3.333, 29.997]] : [[10.1], [33.33]]
  const edge = (to: string) => [{ to, input_nr: 0 }]
  return new TraceIndex({
    ...trace,
    ops: [{ ...op!, id: 'o1', outputs: [], nodes: ['n1'] }, { ...op!, id: 'o2', outputs: [], nodes: ['n2'] }],
    tensors: [
      { ...tensor('x', [1]), names: ['x'] }, tensor('seed', seed!), tensor('k', [3.3]), tensor('a', sent!),
      tensor('b', [dtype === 'bfloat16' ? 33.25 : 33.33], dtype),
    ],
    nodes: [
      { id: 'n1', type: 'MulBackward0', op: 'o1', edges: edge('n2'), saved: [{ field: 'other', tensor: 'k' }] },
      { id: 'n2', type: isSum ? 'AddBackward0' : 'ToCopyBackward0', op: 'o2', edges: edge('n3'), saved: [] },
      { id: 'n3', type: 'AccumulateGrad', edges: [], variable: 'x' },
    ],
    passes: [{
      ...trace.passes[0]!, roots: [{ node: 'n1', input_nr: 0, tensor: null, seed: 'seed' }],
      visits: [
        { node: 'n1', entered: ['seed'], left: ['a'] },
        {
          node: 'n2', entered: ['a'], left: ['b'],
          reduced: isSum ? [{ slot: 0, axes: [0], shape: [2] }] : [],
        },
        { node: 'n3', entered: ['b'], left: [] },
      ],
      accumulations: [{ tensor: 'x', node: 'n3', visit: 2, before: null, delta: 'b', after: 'b' }],
    }],
  })
}

test('a path says where a short type rounded it, and begins at what several came to', () => {
  expect(told(shortened('bfloat16'), 'x')).toEqual([
    'seed 10.1 → ×3.3 (Mul) → ×1 (ToCopy) → bfloat16 33.25 → 33.25',
  ])
  expect(told(shortened('float32'), 'x')).toEqual(['seed 10.1 → ×3.3 (Mul) → ×1 (ToCopy) → 33.33'])
  expect(told(shortened('bfloat16', true), 'x')).toEqual(['node 33.25 → 33.25'])
  expect(told(shortened('float32', true), 'x')).toHaveLength(2)
})

/** The paths through one node to its input: by what it kept, what arrived and what it sent. */
function through(
  type: string, slot: number, saved: Readonly<Record<string, number | boolean | string>>, g: number | string,
  sent: number | string,
): string[] {
  const { trace } = load('scalar_expression')
  const [op] = trace.ops.filter(({ nodes }) => nodes.length > 0)
  const number = (id: string, value: number | boolean | string) => ({
    id, shape: [], dtype: 'float32', role: 'gradient' as const, data: [value],
  })
  const edges = [0, 1].map((at) => ({ to: at === slot ? 'n2' : null, input_nr: 0 }))
  const kept = Object.entries(saved).map(([field, value]) =>
    typeof value === 'string' ? { field, text: value } : { field, tensor: field })
  const index = new TraceIndex({
    ...trace,
    ops: [{ ...op!, id: 'o1', outputs: [], nodes: ['n1'] }],
    tensors: [
      { ...number('a', 0), names: ['a'] }, number('g', g), number('sent', sent),
      ...Object.entries(saved).map(([field, value]) => number(field, value)),
    ],
    nodes: [
      { id: 'n1', type, op: 'o1', edges, saved: kept },
      { id: 'n2', type: 'AccumulateGrad', edges: [], variable: 'a' },
    ],
    passes: [{
      ...trace.passes[0]!, roots: [{ node: 'n1', input_nr: 0, tensor: null, seed: 'g' }],
      visits: [
        { node: 'n1', entered: ['g'], left: edges.map(({ to }) => (to ? 'sent' : null)) },
        { node: 'n2', entered: ['sent'], left: [] },
      ],
      accumulations: [{ tensor: 'a', node: 'n2', visit: 1, before: null, delta: 'sent', after: 'sent' }],
    }],
  })
  return told(index, 'a')
}

test('0 times an infinite slope is a path to NaN', () => {
  expect(through('DivBackward0', 1, { self: 2, other: 0 }, 0, 'nan')).toEqual(['seed 0 → ×−2/0² (Div) → NaN'])
  expect(through('SqrtBackward0', 0, { result: 0 }, 0, 'nan')).toEqual(['seed 0 → ×1/(2·0) (Sqrt) → NaN'])
  expect(through('ExpBackward0', 0, { result: 2 }, 'nan', 'nan')).toEqual(['node NaN → NaN'])
})

test('the element that most came to is told first', () => {
  const at = (...data: (number | string)[]) =>
    largestAt({ id: 't', shape: [data.length], dtype: 'float32', role: 'gradient', data })
  expect([at(0, -3, 2), at(0, 0), at(1, 'nan', 'inf'), at(1, '-inf'), largestAt(undefined)]).toEqual([1, 0, 1, 1, 0])
})

test('where a choice was made, the factor is 1 or 0, or two equals share', () => {
  const where = (condition: boolean, slot: number, sent: number) =>
    through('WhereBackward0', slot, { condition }, 4, sent)
  expect([where(false, 0, 0), where(false, 1, 4)]).toEqual([['seed 4 → ×0 (Where) → 0'], ['seed 4 → ×1 (Where) → 4']])
  expect(where(true, 0, 4)).toEqual(['seed 4 → ×1 (Where) → 4'])
  const greater = (self: number, other: number, sent: number) =>
    through('MaximumBackward0', 1, { self, other }, 4, sent)
  expect([greater(1, 2, 4), greater(3, 2, 0)]).toEqual([['seed 4 → ×1 (Maximum) → 4'], ['seed 4 → ×0 (Maximum) → 0']])
  expect(greater(2, 2, 2)).toEqual(['seed 4 → ×½ (Maximum) → 2'])
  expect(through('MaskedFillBackward0', 0, { mask: true }, 4, 0)).toEqual(['seed 4 → ×0 (MaskedFill) → 0'])
  expect(through('MinimumBackward0', 0, { self: 1, other: 2 }, 4, 4)).toEqual(['seed 4 → ×1 (Minimum) → 4'])
})

test('an exponent has the logarithm of its base, an element its share of the norm', () => {
  expect(through('PowBackward1', 1, { self: 3, result: 9 }, 1, 9 * Math.log(3))).toEqual([
    `seed 1 → ×9·ln 3 (Pow) → ${9 * Math.log(3)}`,
  ])
  expect(through('LinalgVectorNormBackward0', 0, { self: 3, result: 5, ord: '2' }, 1, 0.6)).toEqual([
    'seed 1 → ×3/5 (LinalgVectorNorm) → 0.6',
  ])
  expect(through('LinalgVectorNormBackward0', 0, { self: 3, result: 3, ord: '1' }, 2, 2)).toEqual(['node 2 → 2'])
})

test('paths that differ by their elements only tell which these are', () => {
  const index = lesson('broadcasting')
  const [pass] = index.trace.passes
  const added = pass!.accumulations.find(({ tensor }) => index.tensor(tensor)?.names?.includes('discount'))!
  const [part] = contributions(index, pass!, added)
  const places = pathsOf(index, pass!, part!, 1).map(({ factors }) => factors.map(({ place }) => place).filter(Boolean))
  expect(places.map((all) => all.at(-1))).toEqual(['[0][1]', '[1][1]'])
})

test('contributions of one line that are called alike are told by their turn', () => {
  const { trace } = lesson('rnn_loop')
  // Of the golden trace neither is kept; its nodes are in forward order.
  const nodes = trace.nodes.map((node, at) => ({ ...node, sequence_nr: String(at) }))
  const index = new TraceIndex({ ...trace, nodes, program: { ...trace.program, code: '' } })
  const [pass] = index.trace.passes
  const turns = pass!.accumulations.map((added) => {
    const parts = contributions(index, pass!, added)
    return parts.map((_, at) => nthOf(index, parts, at)?.n ?? 0)
  })
  const most = turns.reduce((a, b) => (b.length > a.length ? b : a))
  expect(most.length).toBeGreaterThan(2)
  expect(most).toEqual(most.map((_, at) => most.length - at))
})
