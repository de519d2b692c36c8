import { expect, test } from 'vitest'
import { START } from '../core/address'
import { embedOptions } from './options'

test('an address names the run and how it opens', () => {
  const query = '?step=7&lang=zh&theme=dark&hide=code,player&mode=edit&level=forward&highlight=3'
  expect(embedOptions('/embed/k3jx9', query, 'en-GB', null)).toEqual({
    run: 'k3jx9',
    step: 7,
    lang: 'zh',
    theme: 'dark',
    level: 'forward',
    mode: 'edit',
    hideCode: true,
    hidePlayer: true,
    expanded: null,
    selection: null,
    highlight: 3,
  })
})

test('what makes no sense takes its default', () => {
  expect(embedOptions('/embed/', '?step=-1&lang=fr&theme=pink&mode=loud&hide=all', 'zh-CN', null)).toEqual({
    run: null,
    step: null,
    lang: 'zh',
    theme: 'auto',
    level: 'both',
    mode: 'read',
    hideCode: false,
    hidePlayer: false,
    expanded: null,
    selection: null,
    highlight: null,
  })
})

test('an embed of a snapshot opens as that says, where the address does not', () => {
  const view = { ...START, run: 'k3', step: 4, lang: 'en' as const, theme: 'dark' as const, expanded: new Set(['m1']) }
  expect(embedOptions('/embed/k3', '?theme=light', 'zh-CN', view)).toEqual({
    run: 'k3', step: 4, lang: 'en', theme: 'light', level: 'both', mode: 'read',
    hideCode: false, hidePlayer: false, expanded: view.expanded,
    selection: null,
    highlight: null,
  })
})

test('slides show the graph alone', () => {
  expect(embedOptions('/embed/k3', '?mode=slides', 'en', null)).toMatchObject({
    mode: 'slides', hideCode: true, hidePlayer: true,
  })
})
