import { expect, test } from 'vitest'
import { embedOptions } from './options'

test('an address names the run and how it opens', () => {
  const query = '?step=7&lang=zh&theme=dark&hide=code,timeline&level=forward&highlight=3'
  expect(embedOptions('/embed/k3jx9', query, 'en-GB')).toEqual({
    run: 'k3jx9',
    step: 7,
    lang: 'zh',
    theme: 'dark',
    level: 'forward',
    hideCode: true,
    highlight: 3,
  })
})

test('what makes no sense takes its default', () => {
  expect(embedOptions('/embed/', '?step=-1&lang=fr&theme=pink', 'zh-CN')).toEqual({
    run: null,
    step: null,
    lang: 'zh',
    theme: 'auto',
    level: 'both',
    hideCode: false,
    highlight: null,
  })
})
