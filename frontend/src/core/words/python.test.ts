import { expect, test } from 'vitest'
import { tokens } from './python'

const kinds = (code: string): string[] =>
  tokens(code).map((line) => line.map((token) => `${token.kind}:${token.text}`).join('|'))

test('keywords, strings and comments are told apart', () => {
  expect(kinds("for x in 'in': # in")).toEqual([
    "keyword:for|plain: x |keyword:in|plain: |string:'in'|plain:: |comment:# in",
  ])
})

test('a name that contains a keyword is plain', () => {
  expect(kinds('format = island')).toEqual(['plain:format = island'])
})

test('a triple-quoted string runs over lines', () => {
  expect(kinds('a = """one\ntwo""" + b')).toEqual(['plain:a = |string:"""one', 'string:two"""|plain: + b'])
})

test('nothing of the program is lost', () => {
  const code = 'def f(x):\n    """Doc."""\n    return f"{x!r}" # done\n\n'
  expect(tokens(code).map((line) => line.map((token) => token.text).join('')).join('\n')).toBe(code)
})
