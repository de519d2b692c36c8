import { Text } from '@codemirror/state'
import { expect, test } from 'vitest'
import { hangingIn } from './editor'

test('rows that a line goes on in begin behind its indentation, which does not break off', () => {
  const doc = Text.of(['for x in y:', '    f(x)', '', '\tg(x)', '   '])
  const found: [from: number, to: number, by: string | undefined][] = []
  hangingIn(doc, 4).between(0, doc.length, (from, to, { spec }) => {
    found.push([from, to, /-\d+/.exec(spec.attributes?.style)?.[0]])
  })
  expect(found).toEqual([
    [0, 0, '-2'], [12, 12, '-6'], [12, 17, undefined], [22, 22, '-6'], [22, 24, undefined],
  ])
})
