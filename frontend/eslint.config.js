// Lines end at 120 columns, as they do in Python (pyproject.toml). Text that cannot be broken may be longer.

import stylistic from '@stylistic/eslint-plugin'
import * as typescript from '@typescript-eslint/parser'
import * as svelte from 'svelte-eslint-parser'

/** A line that is one piece of text: a path, a list of fonts; or that tells the compiler what to pass over. */
const UNBREAKABLE = /^\s*(?:[\w ]+: |return |\? |: )?(['"`]).*\1,?$|<!-- svelte-ignore/
const maxLen = ['error', { code: 120, ignoreRegExpLiterals: true, ignorePattern: UNBREAKABLE.source }]

export default [
  { ignores: ['node_modules/', 'src/api/types.ts'] },
  {
    files: ['**/*.{ts,js,mjs}'],
    languageOptions: { parser: typescript },
    plugins: { stylistic },
    rules: { 'stylistic/max-len': maxLen },
  },
  {
    files: ['**/*.svelte'],
    languageOptions: { parser: svelte, parserOptions: { parser: typescript } },
    plugins: { stylistic },
    rules: { 'stylistic/max-len': maxLen },
  },
]
