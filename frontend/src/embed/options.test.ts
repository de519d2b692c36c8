import { expect, test } from 'vitest'
import { embedOptions } from './options'

test('an address names the run and how it opens', () => {
  expect(embedOptions('/embed/k3jx9', '?step=7&lang=zh&theme=dark&hide=code,timeline&level=forward', 'en-GB')).toEqual({
    run: 'k3jx9',
    step: 7,
    lang: 'zh',
    theme: 'dark',
    level: 'forward',
    hideCode: true,
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
  })
})
