import { expect, test } from 'vitest'
import { START } from '../core/address'
import { embedOptions } from './options'

const END = {
  ...START, step: Infinity, mode: 'read', hideCode: false, hidePlayer: false, asks: true, tells: false, highlight: null,
}

test('an address names the run and how it opens', () => {
  const query = '?step=7&lang=zh&theme=dark&hide=code,player&mode=edit&level=forward&highlight=3&sel=b.n4&open=m1.m2'
  expect(embedOptions('/embed/k3jx9', query, 'en-GB', null)).toEqual({
    ...END,
    run: 'k3jx9',
    step: 7,
    lang: 'zh',
    theme: 'dark',
    level: 'forward',
    mode: 'edit',
    hideCode: true,
    hidePlayer: true,
    expanded: new Set(['m1', 'm2']),
    selection: { kind: 'box', id: 'n4' },
    highlight: 3,
  })
})

test('what makes no sense takes its default', () => {
  const query = '?step=-1&lang=fr&theme=pink&mode=loud&hide=all&run=other&sel=n4&highlight=1e9'
  expect(embedOptions('/embed/', query, 'zh-CN', null)).toEqual({ ...END, lang: 'zh' })
})

test('an embed of a snapshot opens as that says, where the address does not', () => {
  const view = {
    ...START, run: 'k3', step: 4, lang: 'en' as const, theme: 'dark' as const, expanded: new Set(['m1']), root: 'n9',
  }
  expect(embedOptions('/embed/k3', '?theme=light', 'zh-CN', view)).toEqual({ ...END, ...view, theme: 'light' })
})

test('slides show the graph alone', () => {
  expect(embedOptions('/embed/k3', '?mode=slides', 'en', null)).toMatchObject({
    mode: 'slides', hideCode: true, hidePlayer: true,
  })
})

test('the words of a lesson are told where the address asks for them, not because a snapshot was made of one', () => {
  const snapshot = { ...START, lesson: 'diamond' }
  expect(embedOptions('/embed/a', '?step=1', 'en', snapshot)).toMatchObject({ lesson: 'diamond', tells: false })
  expect(embedOptions('/embed/a', '?lesson=hooks', 'en', null)).toMatchObject({ lesson: 'hooks', tells: true })
})
