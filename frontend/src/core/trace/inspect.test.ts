import { expect, test } from 'vitest'
import type { Op, Tensor, Trace } from '../../api/types'
import { load } from '../fixtures/load'
import { words } from '../words/bundled'
import { argumentRows, savedLines, sentence, shapedName, sharing, withoutValue } from './inspect'
import { TraceIndex } from './trace-index'

/** What is said of the product of a small program, were its node of another type. */
function saidOf(type: string, family: string): string {
  const { trace, graph } = load('accumulation')
  const box = graph.boxes.find(({ title }) => title === 'MulBackward0')!
  const nodes = trace.nodes.map((node) => (node.id === box.node ? { ...node, type } : node))
  return sentence(new TraceIndex({ ...trace, nodes }), { ...box, family }, null, words('en'))
}

test('a node without a rule is told of by its type, never by the picture of its box', () => {
  for (const [type, family] of [
    ['LinalgVectorNormBackward0', 'sum'], ['StdMeanBackward0', 'sum'], ['DivBackward2', 'div'],
    ['LogaddexpBackward0', 'add'], ['RollBackward0', 'view'],
    ['GluBackward0', 'act'], ['ClampBackward0', 'act'],
  ])
    expect(saidOf(type!, family!)).toContain('multiplies by its own local derivative')
  expect(saidOf('Exp2Backward0', 'pow')).toContain('multiplied by the slope there')
  expect(saidOf('NotImplemented', 'div')).toContain('no derivative')
})

test('of a node on the way inside a call nothing is called what the call gave', () => {
  const { trace, graph } = load('accumulation')
  const box = graph.boxes.find(({ title }) => title === 'MulBackward0')!
  const nodes = trace.nodes.map((node) => (node.id === box.node ? { ...node, type: 'RollBackward0' } : node))
  const ops = trace.ops.map((op) => (op.id === box.op ? { ...op, nodes: [...op.nodes, 'n90', 'n91'] } : op))
  const said = sentence(new TraceIndex({ ...trace, nodes, ops }), { ...box, tensor: null }, null, words('en'))
  expect(said).toMatch(/^One of the 3 nodes of the call `/)
  expect(saidOf('MkldnnRnnLayerBackward0', 'mat')).toContain('from the last time step to the first')
})

test('what stands between the brackets of an index is named by what it is', () => {
  const { trace } = load('scalar_expression')
  const given = [{ tensor: 't1' }, { text: '0' }, { text: '5.0' }]
  const rows = (name: string, given: Op['arguments']) =>
    (['en', 'zh'] as const).map((lang) =>
      argumentRows({ ...trace.ops[0]!, name, arguments: given }, words(lang)).map(({ label }) => label).join())
  expect(rows('setitem', given)).toEqual(['Tensor,Index,Value', '张量,下标,值'])
  expect(rows('getitem', given.slice(0, 2))).toEqual(['Tensor,Index', '张量,下标'])
  expect(rows('view', [{ tensor: 't1' }, { text: '6' }, { name: 'dim', text: '1' }])).toEqual(['0,dim', '0,dim'])
})

test('a tensor without a name has its shape said once, and does not share its memory with itself', () => {
  const { trace } = load('scalar_expression')
  const tensor = (id: string, ...names: string[]): Tensor =>
    ({ id, role: 'result', dtype: 'float32', shape: [2, 3], storage: 's', names })
  const [old, now, other, nameless] = [tensor('t90', 'x'), tensor('t91', 'x'), tensor('t92', 'y'), tensor('t93')]
  const index = new TraceIndex({ ...trace, tensors: [old!, now!, other!, nameless!] })
  expect(shapedName(index, nameless!)).toBe('float32')
  expect(shapedName(index, { ...nameless!, base: 't92' })).toBe('y')
  expect(sharing(index, now!)).toEqual(['y'])
  expect(sharing(index, nameless!)).toEqual(['x', 'y'])
  const many = [...'abcde'].map((name, at) => tensor(`t9${at}`, name))
  expect(sharing(new TraceIndex({ ...trace, tensors: many }), many[0]!)).toEqual([...'bcde'])
})

test('a leaf that PyTorch made inside a call is none that the program made', () => {
  const { trace, graph } = load('accumulation')
  const box = graph.boxes.find(({ kind, node }) => kind === 'leaf' && node)!
  const ops = trace.ops.map((op) => (op.outputs.includes(box.tensor!) ? { ...op, inside: true } : op))
  const said = (passes: typeof trace.passes): string =>
    sentence(new TraceIndex({ ...trace, ops, passes }), box, null, words('en'))
  const [pass] = trace.passes
  expect(said(trace.passes)).toMatch(/^PyTorch made this leaf inside `.+Backward ends here\.$/)
  expect(said([{ ...pass!, accumulations: [], input_nodes: [{ node: box.node!, output_nr: 0 }] }])).toContain(
    'it is added to no `.grad`',
  )
})

test('a value is told to be inside a call only where that call was recorded, and left out only where some were', () => {
  const { trace } = load('scalar_expression')
  const node = trace.nodes.find(({ op }) => op)!
  const said = (op: string | null, limit?: string): string => {
    const truncated = limit ? [{ what: 'ops', limit, kept: 5, omitted: 3 }] : []
    return withoutValue(new TraceIndex({ ...trace, truncated }), { ...node, op }, words('en'))
  }
  expect(said(node.op!, 'ops')).toMatch(/^PyTorch had this value on its way only/)
  expect(said(null, 'ops')).toMatch(/^Its operation is not among the 5 that were .* the limit on operations was reached\.$/)
  expect(said(null, 'sample')).toMatch(/only a sample was kept\.$/)
  expect(said(null)).toBe('It was not recorded.')
})

test('a saved tensor that a step changes after its use was right, one that is changed before it is stale', () => {
  const story = {
    tensors: [{ id: 't1', shape: [1], dtype: 'float32', role: 'parameter', storage: 's1' }],
    ops: [], updates: [], modules: [],
    nodes: [{ id: 'n1', type: 'ConvolutionBackward0', edges: [], saved: [{ field: 'weight', tensor: 't1' }] }],
    passes: [{ id: 'p1', kind: 'backward', roots: [], accumulations: [], visits: [{ node: 'n1' }] }],
    timeline: [{ kind: 'pass', pass: 'p1' }, { kind: 'visit', pass: 'p1', visit: 0 }, { kind: 'pass_end', pass: 'p1' }],
  } as unknown as Trace
  const told = (trace: Trace, written: number): unknown => {
    const stateAt = (_: string, step: number): Tensor => ({ version: step >= written ? 1 : 0 }) as Tensor
    const [line] = savedLines(new TraceIndex(trace), trace.nodes[0]!, stateAt, 5)
    return [line!.now, line!.isStale]
  }
  expect(told(story, 4)).toEqual([0, false])
  expect(told(story, 1)).toEqual([1, true])
  expect(told({ ...story, passes: [], timeline: [] }, 4)).toEqual([1, false])
})
