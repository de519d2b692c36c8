import { expect, test } from 'vitest'
import type { Comparison } from '../../api/types'
import { load } from '../fixtures/load'
import { words } from '../words/bundled'
import { partingOf } from './parting'
import { TraceIndex } from './trace-index'

const index = new TraceIndex(load('accumulation').trace)
const side = { code: '', nodes: 1, depth: 1, ops: 1, passes: 1 }

function told(part: Partial<Comparison>, lang: 'en' | 'zh'): string[] {
  const comparison = { here: side, there: side, matched: 1, differs: true, ...part } as unknown as Comparison
  return partingOf(words(lang), index, index, comparison, 'B')
}

test('where printed text parts, a line that is missing is told so and one that goes on ends in dots', () => {
  const printed = { line: 3, here: null, there: 'tensor([[ 1.4507, -0.5853],' }
  expect(told({ printed }, 'en').at(-1)).toBe(
    'The printed text parts at its line 3: nothing in A, `tensor([[ 1.4507, -0.5853]…` in B.',
  )
  expect(told({ printed }, 'zh').at(-1)).toBe(
    '打印的内容从第 3 行开始不同。A：没有这一行；B：`tensor([[ 1.4507, -0.5853]…`。',
  )
})

test('values do not agree where tensors of one name end differently', () => {
  const named = (verdict: string) => told({ tensors: [{ name: 'w', value: { verdict } }] } as never, 'en').join()
  expect(named('rounding')).toContain('agree')
  expect(named('value')).not.toContain('agree')
})

test('where graphs part, only what gradients go to is listed', () => {
  const ofType = (type: string) => index.trace.nodes.find((node) => node.type === type)!.op!
  const graph = { here: ofType('MulBackward0'), there: ofType('MulBackward0'), line: 14, line_there: 14 }
  const inBoth = (lang: 'en' | 'zh') => told({ graph } as unknown as Partial<Comparison>, lang).at(-1)!
  expect(inBoth('en')).toContain('gradients go to `w` in A, to `w` in B.')
  expect(inBoth('zh')).toContain('A 中去往 `w`，B 中去往 `w`。')
})

test('a place in a loop is told by how often its line ran', () => {
  const { trace } = load('accumulation')
  const [first, ...others] = trace.ops
  const looped = new TraceIndex({ ...trace, ops: [{ ...first!, iteration: 1 }, ...others] })
  const alone = (lang: 'en' | 'zh') => {
    const comparison = { here: side, there: side, matched: 1, differs: true, only_here: [first!.id] }
    return partingOf(words(lang), looped, index, comparison as unknown as Comparison, 'B').at(-1)!
  }
  expect(alone('en')).toContain(`(line ${first!.span!.line}, run 2 of this line)`)
  expect(alone('zh')).toContain(`（第 ${first!.span!.line} 行第 2 次执行）`)
})

test('of tensors that have another shape the shapes are told', () => {
  const [tensor] = index.trace.tensors.filter(({ shape }) => shape.length === 0)
  const there = new TraceIndex({ ...index.trace, tensors: [{ ...tensor!, id: 'wide', shape: [2, 3] }] })
  const value = { here: null, there: null, line: 1, line_there: 1, tensor_here: tensor!.id, tensor_there: 'wide' }
  const comparison = { here: side, there: side, matched: 1, differs: true, value } as unknown as Comparison
  expect(partingOf(words('en'), index, there, comparison, 'B').at(-1)).toContain('is `()` in A, `2×3` in B.')
})

test('a gradient that is added to another one, as without a reset, is told by its pass', () => {
  const { trace } = load('accumulation')
  const passes = trace.passes.map((pass, at) => (at === 0 ? pass : {
    ...pass, accumulations: pass.accumulations.map((added) => ({ ...added, before: null, after: added.delta })),
  }))
  const comparison = { here: side, there: side, matched: 1, differs: true } as unknown as Comparison
  const without = new TraceIndex({ ...trace, passes })
  const all = partingOf(words('en'), index, without, comparison, 'B')
  const said = all.filter((sentence) => sentence.includes('adds to'))
  expect(said).toHaveLength(1)
  expect(said[0]).toMatch(/^What .*#2 adds to `w.grad` is the same/)
  expect(partingOf(words('en'), index, index, comparison, 'B').join()).not.toContain('adds to')
})
