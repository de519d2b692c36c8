import { expect, test } from 'vitest'
import type { Rule } from '../../api/client'
import { load } from '../../core/fixtures/load'
import { TraceIndex } from '../../core/trace/trace-index'
import { letters, substitute } from './rule'

const index = new TraceIndex(load('accumulation').trace)
const rule: Rule = {
  id: 'mul',
  forward_mathml: '<mi>c</mi>',
  slots: [
    {
      name: 'self', mathml: '<mi>x</mi>',
      substituted: '<mrow><mi data-slot="g">g</mi><mo>⊙</mo><mi data-slot="other">b</mi></mrow>',
    },
  ],
  words: { zh: '', en: '' },
  source: '',
}

test('a rule is filled with the numbers of the visit and what they came to', () => {
  const node = [...index.nodes.values()].find((one) => one.type === 'MulBackward0')!
  const at = index.visitsOfNode.get(node.id)![0]!
  const math = substitute(index, rule, rule.slots[0]!, node, at)!
  expect(math).not.toContain('data-slot')
  const numbers = [...math.matchAll(/<mn[^>]*>([^<]*)<\/mn>/g)].map((match) => match[1])
  expect(numbers).toEqual(['1', '1', '3', '3', '3'])
  expect(letters(index, rule, node, at)).toEqual([{ letter: 'b', name: '3' }])
})
