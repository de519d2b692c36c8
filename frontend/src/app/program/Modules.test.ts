// @vitest-environment happy-dom
import { flushSync, mount, unmount } from 'svelte'
import { afterEach, expect, test } from 'vitest'
import { load } from '../../core/fixtures/load'
import { words } from '../../core/words/bundled'
import { playground } from '../state/playground'
import Modules from './Modules.svelte'

let shown: Record<string, unknown> | null = null

afterEach(() => {
  if (shown) void unmount(shown)
  shown = null
})

test('at an open question a module has all its parameters, and none has a gradient yet', () => {
  const { run, view } = playground()
  run.shown = load('attention')
  view.t = words('en')
  expect(run.isCut).toBe(true)
  shown = mount(Modules, { target: document.body, props: { run, view } })
  flushSync()
  const [attention, ...parts] = [...document.querySelectorAll('.item .n')].map((cell) => cell.textContent)
  expect([attention, parts]).toEqual(['48', ['16', '16', '16']])
  expect(document.querySelector('footer')?.textContent).toContain('48 parameters · 3 leaves, 0 with .grad')
})
