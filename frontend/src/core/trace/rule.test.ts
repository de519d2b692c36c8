import { expect, test } from 'vitest'
import code from '../../../../gallery/conv_by_hand.py?raw'
import type { Rule } from '../rules'
import type { Trace } from '../../api/types'
import { load } from '../fixtures/load'
import { isDefined, ruleShown } from './rule'
import { gradientLetter } from './rule-letters'
import { TraceIndex } from './trace-index'

const place = (name: string, letter: string): string => `<mi data-slot="${name}">${letter}</mi>`
const rule: Rule = {
  id: 'mul',
  forward_mathml: `<mrow>${place('result', 'c')}<mo>=</mo>${place('self', 'a')}<mo>⊙</mo>${place('other', 'b')}</mrow>`,
  slots: [
    {
      name: 'self', letter: 'a', mathml: `<mrow>${place('g', 'g')}<mo>⊙</mo>${place('other', 'b')}</mrow>`,
      terms: ['mul', 'g', 'other'],
    },
    {
      name: 'other', letter: 'b', mathml: `<mrow>${place('g', 'g')}<mo>⊙</mo>${place('self', 'a')}</mrow>`,
      terms: ['mul', 'g', 'self'],
    },
  ],
  words: { zh: '', en: '' },
  source: '',
}

function shown(trace: Trace, type = 'MulBackward0', by = rule) {
  const index = new TraceIndex(trace)
  const node = trace.nodes.find((node) => node.type === type)!
  return ruleShown(index, by, node, index.visitsOfNode.get(node.id)![0]!, true)
}

const text = (mathml: string | null): string => mathml!.replace(/<\/mt[rd]>/g, ' ').replace(/<[^>]*>/g, '')

test('a rule is filled with the numbers of the visit and what they came to', () => {
  const { slots, stands } = shown(load('accumulation').trace)
  expect(slots.map(({ numbers }) => text(numbers))).toEqual(['1 1  ⊙3=3 3  '])
  expect(stands).toEqual([
    { letter: 'a', name: 'w' }, { letter: 'b', name: '3' }, { letter: 'c', name: '3 * w' },
    { letter: 'L', name: 'second' },
  ])
})

test('the loss has one letter, in the rule of the op that gives it too', () => {
  const { trace } = load('distributed_data_parallel')
  const { forward, slots, stands } = shown(trace, 'MseLossBackward0', {
    ...rule, forward_mathml: `<mrow>${place('result', 'ℓ')}<mo>=</mo>${place('self', 'x')}</mrow>`,
  })
  expect(text(forward)).toMatch(/^L=/)
  expect(text(slots[0]!.formula)).toMatch(/^∂L∂/)
  expect(stands.filter(({ name }) => name === 'loss')).toEqual([{ letter: 'L', name: 'loss' }])
})

test('few numbers are written out, however many axes of one element lie around them', () => {
  const { trace } = load('accumulation')
  const wrapped = ({ shape }: { shape?: readonly number[] }): number[] => (shape?.length ? [1, ...shape, 1, 1] : [])
  const tensors = trace.tensors.map((tensor) => ({ ...tensor, shape: wrapped(tensor) }))
  expect(shown({ ...trace, tensors }).slots.map(({ numbers }) => text(numbers))).toEqual(['1 1  ⊙3=3 3  '])
})

test('numbers by themselves are multiplied by a point', () => {
  const { slots } = shown(load('scalar_expression').trace)
  const formulas = slots.flatMap(({ formula, numbers }) => [text(formula), numbers ? text(numbers) : '1·1'])
  for (const formula of formulas) expect(formula).toMatch(/^[^⊙]*·[^⊙]*$/)
})

test('numbers that cancel have as many digits as make the equation hold', () => {
  const { trace } = load('accumulation')
  const node = { ...trace.nodes.find(({ type }) => type === 'MulBackward0')!, type: 'TanhBackward0' }
  const numbers: Readonly<Record<string, number>> = { g: 0.1967, y: 0.99505475, left: 0.0019407 }
  const tensors = Object.entries(numbers).map(([id, value]) => ({
    ...trace.tensors[0]!, id, identity: null, names: [], shape: [], data: [value],
  }))
  const visits = [{ node: node.id, entered: ['g'], left: ['left'] }]
  const whole = {
    ...trace, tensors: [...trace.tensors, ...tensors], passes: [{ ...trace.passes[0]!, visits }],
    nodes: [{ ...node, saved: [{ field: 'result', tensor: 'y' }], edges: [{ ...node.edges[0]!, name: 'self' }] }],
  }
  const slope = `<mrow>${place('g', 'g')}<mo>(</mo><mn>1</mn><mo>−</mo>${place('result', 'y')}²<mo>)</mo></mrow>`
  const tanh: Rule = {
    ...rule, slots: [{
      name: 'self', letter: 'x', mathml: slope, terms: ['mul', 'g', ['sub', 1, ['pow', 'result', 2]]],
    }],
  }
  expect(text(shown(whole, 'TanhBackward0', tanh).slots[0]!.numbers)).toBe('0.1967(1−0.995055²)≈0.001941')
})

test('the sum over broadcast axes stands in the equation', () => {
  const [slot] = shown(load('broadcasting').trace).slots
  expect(text(slot!.formula)).toBe('∂L∂b=∑0(g⊙a)')
  expect(text(slot!.numbers)).toBe('∑0(1 1 1  1 1 1  ⊙1 2 3  4 5 6  )=5 7 9  ')
})

test('what is made on the way inside a call has not the name of the call', () => {
  const { trace } = load('attention')
  const product: Rule = {
    ...rule, forward_mathml: rule.forward_mathml.replace('data-slot="other"', 'data-slot="mat2"'), slots: [],
  }
  expect(shown(trace, 'MmBackward0', product).stands.map(({ name }) => name)).toEqual([
    'words', 'attention.query.weight.T', 'q', 'mixed[0].sum()',
  ])
})

test('what has no name inside a call is told by the node that made it', () => {
  const { trace } = load('scalar_expression')
  const inner = trace.nodes.find(({ type }) => type === 'PowBackward0')!
  const nameless = {
    ...trace, nodes: trace.nodes.map((node) => (node === inner ? { ...node, op: null } : node)),
    tensors: trace.tensors.filter(({ grad_fn }) => grad_fn?.node !== inner.id),
  }
  const names = (trace: Trace) => shown(trace, 'AddBackward0').stands.map(({ letter, name }) => `${letter} ${name}`)
  expect(names(trace)[0]).toBe('a x ** 2')
  expect(names(nameless)[0]).toBe('a Pow(…)')
  const { nodes } = nameless
  const ops = trace.ops.map((op) => (op.nodes.includes(inner.id) ? { ...op, outputs: [], nodes: [] } : op))
  const valued = trace.tensors.map((tensor) => (tensor.grad_fn?.node === inner.id ? { ...tensor, names: [] } : tensor))
  expect(names({ ...trace, nodes, ops, tensors: valued })[0]).toBe('a Pow(…) = 4')
  const unspelled = trace.ops.map((op) => (op.nodes.includes(inner.id) ? { ...op, called: op.name } : op))
  expect(names({ ...trace, ops: unspelled, tensors: valued })[0]).toBe('a Pow(…) = 4')
  const pieces = nameless.nodes.map((node) => ({
    ...node, edges: node.edges.map((edge) => (edge.to === inner.id ? { ...edge, input_nr: 1 } : edge)),
  }))
  expect(names({ ...nameless, nodes: pieces })[0]).toBe('a Pow(…)[1]')
})

test('indices and what is written in place are told by the program', () => {
  const lessons = import.meta.glob<Trace>('../../../../gallery/{losses,conv_by_hand}.json', {
    eager: true, import: 'default',
  })
  const [convolution, losses] = Object.values(lessons).map((one, at) => ({
    ...one, program: { code: [code, ''][at]! },
  }))
  const letters = (...names: string[]): Rule => ({
    ...rule, forward_mathml: names.map((name) => place(name, name)).join(''), slots: [],
  })
  const told = (trace: Trace, type: string, ...places: string[]) => {
    const index = new TraceIndex(trace)
    const node = trace.nodes.find((node) => node.type === type)!
    const at = { ...[...index.visitsOfNode.values()][0]![0]!, visit: { node: node.id, entered: [], left: [] } }
    const stands = ruleShown(index, letters(...places), node, at, false).stands
    return stands.filter(({ letter }) => letter !== 'L').map(({ name }) => name)
  }
  const rows = losses!.tensors.map((one) => (one.id === 't20' ? { ...one, names: ['rows'] } : one))
  expect(told({ ...losses!, tensors: rows }, 'IndexBackward0', 'indices')).toEqual(['rows, classes'])
  expect(told(losses!, 'IndexBackward0', 'indices')).toEqual([])
  const ops = losses!.ops.map((op) => (op.nodes.includes('n11')
    ? { ...op, arguments: [op.arguments[0]!, { text: '([0, 1], [0, 1])' }] }
    : op))
  expect(told({ ...losses!, ops }, 'IndexBackward0', 'indices')).toEqual(['[0, 1], [0, 1]'])
  expect(told(convolution!, 'CopySlices', 'result', 'self', 'view')).toEqual(['edges', 'edges', 'result[i, j]'])
})

test('the places of what was chosen along an axis are told by the call, unless they have a name', () => {
  const lessons = import.meta.glob<Trace>('../../../../gallery/indexing.json', { eager: true, import: 'default' })
  const code = [...Array<string>(8).fill(''), 'values = x.max(1)'].join('\n')
  const trace = { ...Object.values(lessons)[0]!, program: { code } }
  const chosen: Rule = {
    ...rule, forward_mathml: '', slots: [{ ...rule.slots[0]!, mathml: place('indices', 'i'), terms: 'indices' }],
  }
  const called = (names: string[], function_: string): string | undefined => {
    const tensors = trace.tensors.map((one) => (one.id === 't11' ? { ...one, names } : one))
    const ops = trace.ops.map((op) => (op.id === 'o11' ? { ...op, called: function_ } : op))
    return shown({ ...trace, tensors, ops }, 'MaxBackward0', chosen).stands.find(({ letter }) => letter === 'i')?.name
  }
  expect([called([], 'x.max(1)'), called(['at'], 'x.max(1)'), called([], 'pool(x)')]).toEqual(
    ['x.max(1).indices', 'at', undefined],
  )
})

test('letters that the program uses are left to it', () => {
  const { trace } = load('accumulation')
  const code = `${trace.program.code}\na = b = g = L = 0`
  const used = { ...trace, program: { ...trace.program, code } }
  expect(text(shown(used).slots[0]!.formula)).toBe('∂J∂d=u⊙h')
  expect(gradientLetter(new TraceIndex(used))).toBe('u')
})

test('a letter that the size of a window is told with stands for nothing else', () => {
  const { trace } = load('accumulation')
  const axis = { size: 4, kernel: 2, stride: 1, padding: 0, out: 3 }
  const ops = trace.ops.map((op) => ({ ...op, window: { kind: 'pool' as const, axes: [axis] } }))
  const code = `${trace.program.code}\na = b = h = 0`
  const [slot] = shown({ ...trace, ops, program: { ...trace.program, code } }).slots
  expect(text(slot!.formula)).toBe('∂L∂q=g⊙r')
})

test('numbers that do not make the equation true are not shown', () => {
  const { trace } = load('accumulation')
  const node = trace.nodes.find(({ type }) => type === 'MulBackward0')!
  const left = trace.passes.flatMap(({ visits }) => visits).find((visit) => visit.node === node.id)!.left[0]
  const tensors = trace.tensors.map((tensor) => (tensor.id === left ? { ...tensor, data: [3, 4] } : tensor))
  expect(shown({ ...trace, tensors }).slots[0]!.numbers).toBeNull()
})

test('what rounding alone keeps apart is nearly equal', () => {
  const { trace } = load('accumulation')
  const node = trace.nodes.find(({ type }) => type === 'MulBackward0')!
  const left = trace.passes.flatMap(({ visits }) => visits).find((visit) => visit.node === node.id)!.left[0]
  const tensors = trace.tensors.map((tensor) => (tensor.id === left ? { ...tensor, data: [3.001, 3] } : tensor))
  expect(text(shown({ ...trace, tensors }).slots[0]!.numbers)).toContain('≈')
})

test('a rule whose formula is 0/0 where PyTorch sends a number is not offered', () => {
  const { trace } = load('accumulation')
  const node = trace.nodes.find(({ type }) => type === 'MulBackward0')!
  const [visit] = trace.passes.flatMap(({ visits }) => visits).filter((visit) => visit.node === node.id)
  const isOffered = (arrived: number): boolean => {
    const tensors = trace.tensors.map((of) => (of.id === visit!.entered[0] ? { ...of, data: [arrived, 1] } : of))
    const index = new TraceIndex({ ...trace, tensors })
    const [slot] = rule.slots
    const divided = { ...rule, slots: [{ ...slot!, terms: ['div', ['mul', 'g', 'other'], 'g'] }] }
    return isDefined(index, divided, node, index.visitsOfNode.get(node.id)![0]!)
  }
  expect([1, 0].map(isOffered)).toEqual([true, false])
})

test('a letter stands for the number that a call was given, or the count of what was averaged', () => {
  const { trace } = load('accumulation')
  const node = trace.nodes.find(({ type }) => type === 'MulBackward0')!
  const alone = { ...node, saved: [], edges: node.edges.filter(({ to }) => to !== null) }
  const ops = trace.ops.map((op) =>
    op.id !== node.op ? op : { ...op, arguments: [op.arguments.find(({ tensor }) => tensor)!, { text: '7' }] })
  const only = { ...trace, ops, nodes: trace.nodes.map((each) => (each === node ? alone : each)) }
  const { slots, stands } = shown(only)
  expect(slots.map(({ name }) => name)).toEqual([alone.edges[0]!.name])
  expect(stands).toContainEqual({ letter: 'b', name: '7' })
  const mean = { ...rule, forward_mathml: `${rule.forward_mathml}${place('n', 'n')}` }
  expect(shown(trace, 'MulBackward0', mean).stands).toContainEqual({ letter: 'n', name: '2' })
})

test('what a layer was given without tracking stands where it belongs, if it is no more than turned', () => {
  const { trace } = load('accumulation')
  const node = trace.nodes.find(({ type }) => type === 'MulBackward0')!
  const leaf = (name: string, shape: number[]) =>
    ({ ...trace.tensors[0]!, id: name, identity: null, names: [name], shape, requires_grad: false })
  const named = (name: string, shape: number[], type = 'AddmmBackward0') => {
    const [b, ...rest] = ['self', 'mat1', 'mat2'].map((name) => ({ to: null, input_nr: 0, name }))
    const layer = { ...node, type, saved: [], edges: [{ ...node.edges.find(({ to }) => to)!, name: b!.name }, ...rest] }
    const ops = trace.ops.map((op) => op.id !== node.op ? op : {
      ...op, name, arguments: [{ tensor: 'x' }, { name: 'weight', tensor: 'W' }], inputs: ['x', 'W'],
    })
    const nodes = trace.nodes.map((each) => (each === node ? layer : each))
    const tensors = [...trace.tensors, leaf('x', shape), leaf('W', [2, 2])]
    const places = ['mat1', 'mat2'].map((name) => place(name, name)).join('')
    return shown({ ...trace, ops, nodes, tensors }, type, { ...rule, forward_mathml: places, slots: [] })
      .stands.map(({ name }) => name).filter((name) => /x|W/.test(name))
  }
  expect(named('linear', [1, 2])).toEqual(['x', 'W.T'])
  expect(named('linear', [1, 1, 2])).toEqual(['W.T'])
  expect(named('mine', [1, 2])).toEqual([])
})

test('of a list of tensors each has the piece of the gradient that is its own', () => {
  const { trace } = load('accumulation')
  const [tensor, node] = [trace.tensors[0]!, trace.nodes.find(({ type }) => type === 'MulBackward0')!]
  const made = (id: string, data: number[]): typeof tensor =>
    ({ ...tensor, id, identity: null, names: [], shape: [data.length], data })
  const op = { ...trace.ops.find(({ id }) => id === node.op)!, inputs: ['a', 'b'], outputs: ['y'] }
  const cat = {
    ...node, type: 'CatBackward0', saved: [{ field: 'dim', text: '0' }],
    edges: [0, 1].map((at) => ({ to: node.edges.find(({ to }) => to)!.to, input_nr: 0, name: `tensors[${at}]` })),
  }
  const visits = [{ node: node.id, entered: ['y'], left: ['a', 'b'] }]
  const { slots } = shown({
    ...trace, ops: trace.ops.map((each) => (each.id === op.id ? op : each)), nodes: [cat],
    tensors: [made('a', [1, 2]), made('b', [3]), made('y', [1, 2, 3])], passes: [{ ...trace.passes[0]!, visits }],
  }, 'CatBackward0', {
    ...rule, id: 'cat', slots: [{
      name: 'tensors', letter: 'xᵢ', terms: ['piece', 'g', 'start', 'end', 'dim'],
      mathml: `<mrow>piece(${place('g', 'g')},${place('start', 'start')},${place('end', 'end')})</mrow>`,
    }],
  })
  expect(slots.map(({ formula }) => text(formula))).toEqual(['∂L∂x₀=piece(g,0,2)', '∂L∂x₁=piece(g,2,3)'])
  expect(slots.map(({ numbers }) => text(numbers))).toEqual(['piece(1 2 3  ,0,2)=1 2  ', 'piece(1 2 3  ,2,3)=3  '])
})
