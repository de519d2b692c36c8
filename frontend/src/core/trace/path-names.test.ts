import { expect, test } from 'vitest'
import type { Node } from '../../api/types'
import { load } from '../fixtures/load'
import type { Path } from './contributions'
import { namesOn, runText, startText } from './path-names'
import { TraceIndex } from './trace-index'

const { trace } = load('scalar_expression')
const op = trace.ops.find(({ nodes }) => nodes.length > 0)!

/** Paths by nodes, each of its own op. */
function named(...all: readonly (readonly [type: string, called: string])[]): { names: string[]; nodes: Node[] } {
  const nodes = all.map(([type], n): Node => ({ id: `m${n}`, type, op: `q${n}`, edges: [] }))
  const ops = all.map(([, called], n) => ({ ...op, id: `q${n}`, called, outputs: [], nodes: [`m${n}`] }))
  const index = new TraceIndex({ ...trace, ops, nodes })
  const start = { kind: 'seed' as const, node: undefined, value: 1, place: '', products: 0 }
  const factors = nodes.map((node) => ({ node, value: 1, text: '1', place: '' }))
  const path: Path = { start, factors, value: 1 }
  return { nodes, names: [...namesOn(index, [path]).values()] }
}

test.each([
  ['k.sum(1, keepdim=True)', 'k.sum(…)'],
  ['torch.addcmul(n, a, g, value=0.5)', 'torch.addcmul(…)'],
  ['nn.functional.l1_loss(rec, batch)', 'nn….l1_loss(…)'],
  ['lo + cs * srt + med + at + cl', 'lo … + at + cl'],
  ['q.view(B, T, self.h, C // self.h).transpose(1, 2)', 'q….transpose(1, 2)'],
  ['a_name_that_is_longer_than_most', 'a_name_th…han_most'],
])('the name %s of a factor is cut to %s', (full, cut) => {
  expect(named(['SumBackward1', full], ['MmBackward0', 'h @ W']).names).toEqual([cut, 'h @ W'])
})

test('no two names of factors are cut to the same', () => {
  expect(named(['SumBackward1', 'k.sum(1, keepdim=True)'], ['SumBackward1', 'k.sum(0, keepdim=False)']).names).toEqual(
    ['k.sum(1,…im=True)', 'k.sum(0,…m=False)'])
  expect(named(['NllLossBackward0', 'F.cross_entropy(torch.tenso…']).names).toEqual(['F.cross_entropy(t…'])
  expect(named(['MmBackward0', 'h @ W'], ['SqueezeBackward4', 'h @ W']).names).toEqual(
    ['h @ W · Mm', 'h @ W · Squeeze'])
  expect(named(['MulBackward0', 'left(a, 1, 2) * tail'], ['MulBackward0', 'left(a, 1, b, 2) * tail']).names).toEqual(
    ['left(a, 1, 2) * tail', 'left(a, 1, b, 2) * tail'])
  expect(named(['MulBackward0', 'y * 2'], ['MulBackward0', 'y * 2']).names).toEqual(['y * 2', 'y * 2'])
})

test('nodes inside one call are called as what it gave', () => {
  const nodes = ['BmmBackward0', 'ViewBackward0'].map((type, n): Node => ({ id: `m${n}`, type, op: 'q', edges: [] }))
  const ops = [{ ...op, id: 'q', called: "torch.einsum('ij,jk', M, N)", outputs: ['r'], nodes: ['m0', 'm1'] }]
  const tensors = [{ ...trace.tensors[0]!, id: 'r', names: ['r'] }]
  const index = new TraceIndex({ ...trace, ops, nodes, tensors })
  const start = { kind: 'seed' as const, node: undefined, value: 1, place: '', products: 0 }
  const factors = nodes.map((node) => ({ node, value: 1, text: '1', place: '' }))
  expect([...namesOn(index, [{ start, factors, value: 1 }]).values()]).toEqual(['r', 'r'])
})

test('a row of factors is told by its ends', () => {
  const { nodes } = named(['AddBackward0', 'a'], ['AddBackward0', 'b'])
  const names = new Map(nodes.map((node, n) => [node, 'ab'[n]!]))
  const run = nodes.map((node) => ({ node, value: 1, text: '1', place: '' }))
  expect(runText(run, names)).toBe('a → b')
  expect(runText([run[0]!, run[0]!], names)).toBe('a ×2')
})

test('a path says why it begins where it does', () => {
  const t = Object.assign((key: string) => `${key} `, { has: () => false })
  const { nodes: [mm, round] } = named(['MmBackward0', 'h @ W'], ['RoundBackward0', 'r'])
  const said = (kind: 'node' | 'arrived' | 'unread', node: Node, products: number): string =>
    startText({ kind, node, value: 1, place: '', products }, new Map([[node, 'n']]), t).split(' ')[0]!
  expect([said('node', mm!, 4), said('node', mm!, 0), said('node', round!, 0)]).toEqual(
    ['why.added', 'why.mixes', 'why.node'])
  expect([said('arrived', mm!, 2), said('arrived', mm!, 1), said('unread', mm!, 0)]).toEqual(
    ['why.terms', 'why.arrived', 'why.unread'])
})
