import { expect, test } from 'vitest'
import type { Tensor } from '../../api/types'
import { load } from '../fixtures/load'
import {
  boxFinder, brief, briefLine, codeOf, derivativeName, nameOf, nodeName, ownerName, tensorName, typeAndName,
} from './naming'
import { TraceIndex } from './trace-index'

test('truth values are told as Python writes them', () => {
  const tensor = (data: number[], shape: number[]): Tensor =>
    ({ id: 't1', role: 'result', dtype: 'bool', shape, data }) as Tensor
  expect(brief(tensor([1], []))).toBe('True')
  expect(brief(tensor([0, 0], [2]))).toBe('[False, False]')
  expect(brief(tensor([1, 0], [2]))).toBe('[True, False]')
})

test('a tensor without elements is no number beside its line', () => {
  const tensor = (shape: number[], data: number[]): Tensor =>
    ({ id: 't1', role: 'result', dtype: 'float32', shape, data }) as Tensor
  expect([tensor([0], []), tensor([2, 0], [])].map(briefLine)).toEqual([['[]'], ['2×0']])
  expect([tensor([9], Array<number>(9).fill(3)), tensor([2, 3], [1, 2, 3, 4, 5, 6])].map(briefLine)).toEqual([
    ['(9,) · 3', '(9,)'], ['2×3'],
  ])
})

test('beside its line a small tensor is told by its numbers, with fewer digits where there is less room', () => {
  const tensor = (shape: number[], data: number[]): Tensor =>
    ({ id: 't1', role: 'result', dtype: 'float32', shape, data }) as Tensor
  const all = [tensor([2], [1.4142, -0.5]), tensor([2], [3, 3]), tensor([2, 1], [3.7183, 4])]
  expect(all.map((one) => [...new Set(briefLine(one))])).toEqual([
    ['[1.414, −0.5]', '[1.41, −0.5]', '[1.4, −0.5]', '(2,)'], ['[3, 3]', '(2,) · 3', '(2,)'],
    ['[[3.718], [4]]', '[[3.72], [4]]', '[[3.7], [4]]', '2×1'],
  ])
})

test('a tensor that the program never named is told by its base or its shape, never by its id', () => {
  const { trace } = load('detach')
  const named = trace.tensors.find((tensor) => tensor.names?.includes('y'))!
  const unknown = { names: [], identity: null, base: null }
  const nameless: Tensor = { ...named, ...unknown, id: 't900', shape: [2, 3], role: 'buffer' }
  const view: Tensor = { ...nameless, id: 't901', base: named.id }
  const index = new TraceIndex({ ...trace, tensors: [...trace.tensors, nameless, view] })
  expect(nameOf(index, nameless)).toBe('')
  expect(tensorName(index, nameless)).toBe('float32 2×3')
  expect(tensorName(index, view)).toBe('y')
})

test('of a parameter its place in the model is its name, rather than what every module calls its own', () => {
  const { trace } = load('attention')
  const module = trace.modules.find(({ parameters }) => parameters?.length)!
  const [{ name, tensor }] = module.parameters as [{ name: string; tensor: string }]
  const tensors = trace.tensors.map((one) => (one.id === tensor ? { ...one, names: [`self.${name}`] } : one))
  const index = new TraceIndex({ ...trace, tensors })
  expect(nameOf(index, index.tensor(tensor))).toBe(`${module.path}.${name}`)
})

test('what worked inside a call is told by the module that it ended or by its own name: the call gave another', () => {
  const { trace } = load('attention')
  const ops = trace.ops.map((op, at) => (at === 3 ? { ...op, called: 'net.0(…)' } : op))
  const index = new TraceIndex({ ...trace, ops })
  const nameless = { ...index.tensor(ops[3]!.outputs[0])!, names: [], identity: null }
  expect(nameOf(index, nameless)).toBe('net.0(…)')
  expect(nameOf(new TraceIndex(trace), nameless)).not.toContain('net.0')
  const turned = { ...ops[3]!, name: 'requires_grad_', inside: true, inputs: ops[3]!.outputs }
  const leaf = new TraceIndex({ ...trace, ops: ops.map((op, at) => (at === 3 ? turned : op)) })
  expect(nameOf(leaf, nameless)).toBe('')
})

test('what a library takes by an index is told as a program would write it', () => {
  const { trace } = load('detach')
  const index = new TraceIndex(trace)
  const { id } = trace.tensors.find(({ names }) => names?.includes('square'))!
  const op = { ...trace.ops[0]!, name: 'getitem', called: 'getitem', arguments: [{ tensor: id }, { text: '5' }] }
  expect(codeOf(index, op)).toBe('square[5]')
  expect(codeOf(index, { ...op, called: 'empty' })).toBe('empty')
})

test('a tensor of equal numbers is told as one, and not as that number', () => {
  const told = (...shape: number[]) =>
    brief({ ...load('detach').trace.tensors[0]!, shape, data: new Array(shape.reduce((a, b) => a * b, 1)).fill(2) })
  expect([told(), told(1), told(3), told(2, 2)]).toEqual(['2', '[2]', '[2, 2, 2]', '[[2, 2], [2, 2]]'])
  expect([told(7), told(4, 5), told(1, 3, 3)]).toEqual(['[2, 2, 2, …, 2]', '[[2, …]]', '[[[2, …]]]'])
})

test('more truth values or whole numbers than are listed have no norm worth telling, but type and shape', () => {
  const { trace } = load('detach')
  const mask: Tensor = { ...trace.tensors[0]!, shape: [2, 2], dtype: 'bool', data: [true, false, true, true] }
  expect(brief(mask)).toBe('bool 2×2')
  const long = { ...mask, dtype: 'float32', data: [-0.1234, -0.5678, 0.4321, 2] }
  expect([brief(long), brief({ ...long, shape: [4] })]).toEqual(['‖2.13‖', '[−0.1234, −0.5678, 0.4321, 2]'])
  expect(brief({ ...mask, shape: [3, 2], data: [true, false, true, true, true, true] })).toBe('bool 3×2')
  expect(brief({ ...mask, dtype: 'int64', data: [3, 1, 4, 1] })).toBe('[[3, 1], [4, 1]]')
  expect(brief({ ...mask, dtype: 'int64', shape: [2, 3], data: [3, 1, 4, 1, 5, 9] })).toBe('int64 2×3')
  expect(brief({ ...mask, dtype: 'int64', shape: [2], data: [3, 1] })).toBe('[3, 1]')
})

test('a node is named by what it made, a turned weight by the weight, others inside a call by type', () => {
  const { trace } = load('attention')
  const index = new TraceIndex(trace)
  const nodes = trace.nodes.filter(({ op }) => op === trace.ops.find(({ nodes }) => nodes.length === 2)!.id)
  expect(nodes.map((node) => typeAndName(index, node))).toEqual([
    'MmBackward0 · q', 'TBackward0 · attention.query.weight.T',
  ])
  const [, turned] = nodes
  expect(typeAndName(index, { ...turned!, type: 'ViewBackward0' })).toBe('ViewBackward0')
  expect(nodeName(index, { ...turned!, edges: [{ ...turned!.edges[0]!, to: null }] })).toBe('TBackward0')
})

test.each([
  ['3 * w', '(3 * w)'], ['-x', '(-x)'], ['w', 'w'], ['net.layers[0].w', 'net.layers[0].w'],
  ['f(a + b, g(x)[0]).sum()', 'f(a + b, g(x)[0]).sum()'], ['f(a) + g(b)', '(f(a) + g(b))'],
])('an attribute stands behind the whole of %s', (name, owner) => {
  const { trace } = load('detach')
  expect(ownerName(new TraceIndex(trace), { ...trace.tensors[0]!, names: [name] })).toBe(owner)
})

test('a parameter of two boxes stands where it gets its gradient', () => {
  const { trace, graph } = load('attention')
  const taker = graph.boxes.find(({ parameters }) => parameters?.length)!
  const unvisited = { ...taker, id: 'n900', node: 'n900' }
  const find = boxFinder({ ...graph, boxes: [unvisited, ...graph.boxes] }, new TraceIndex(trace))
  const [parameter] = taker.parameters!
  expect(find.ofNode(parameter!.node)?.id).toBe(taker.id)
  expect(find.ofTensor(parameter!.tensor)?.id).toBe(taker.id)
})

test('what the backward of a value made has the name of its box, and that of its own backward another order', () => {
  const { trace, graph } = load('double_backward')
  const index = new TraceIndex(trace)
  const made = graph.boxes.filter(({ name }) => name?.startsWith('∂'))
  expect(made.length).toBeGreaterThan(0)
  for (const { node, name } of made) expect(derivativeName(index, index.node(node)!)).toBe(name)
  const [first, second] = made.map(({ node }) => index.node(node)!)
  const nodes = trace.nodes.map((node) => (node.id === second!.id ? { ...node, made_by: first!.id } : node))
  const deeper = new TraceIndex({ ...trace, nodes })
  expect(derivativeName(deeper, deeper.node(second!.id)!)).toMatch(/^∂² /)
})
