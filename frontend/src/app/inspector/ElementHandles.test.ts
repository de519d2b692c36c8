// @vitest-environment happy-dom
import { flushSync, mount, unmount } from 'svelte'
import { afterEach, expect, test } from 'vitest'
import { load } from '../../core/fixtures/load'
import { elementLiterals } from '../../core/trace/literals'
import { playground } from '../state/playground'
import ElementHandles from './ElementHandles.svelte'

let shown: Record<string, unknown> | null = null

afterEach(() => {
  if (shown) void unmount(shown)
  shown = null
})

function handles() {
  const { run, draft, view, runner } = playground()
  run.shown = load('broadcasting')
  draft.code = run.shown.trace.program.code
  const tensor = run.shown.trace.tensors.find(({ names }) => names?.includes('discount'))!
  const own = elementLiterals(run.index!, tensor)!
  const props = { run, draft, view, runner, own, columns: own.length, say: (at: number) => `discount[${at}]` }
  shown = mount(ElementHandles, { target: document.body, props })
  flushSync()
  const field = document.querySelector('input')!
  const type = (text: string): void => {
    field.value = text
    field.dispatchEvent(new Event('input', { bubbles: true }))
    flushSync()
  }
  return { run, draft, runner, field, type, code: draft.code }
}

test('what is typed and no number is marked, and gone with Enter', () => {
  const { draft, field, type, code } = handles()
  type('0.9-4')
  expect(field.getAttribute('aria-invalid')).toBe('true')
  field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))
  flushSync()
  expect([field.value, field.getAttribute('aria-invalid')]).toEqual(['0.9', null])
  expect(draft.code).toBe(code)
})

test('a tenth of a step is spoken of where there is one', () => {
  const { run } = handles()
  const hint = () => document.querySelector('.quiet')!.textContent
  expect(hint()).toBe('turn.hint.steps')
  const { trace, graph } = run.shown!
  run.shown = { trace: { ...trace, sliders: [] }, graph }
  flushSync()
  expect(hint()).toBe('turn.hint')
})

test('a whole number is typed as a float, and the handles stay where the program fails with it', () => {
  const { draft, runner, type, code } = handles()
  runner.turn = (turned) => (draft.code = turned)
  type('5')
  expect(draft.code).toBe(code.replace('0.9', '5.0'))
  expect([draft.edited, document.querySelectorAll('input').length]).toEqual([true, 3])
  draft.code = `${code}\nx = 1`
  flushSync()
  expect(document.querySelector('input')).toBeNull()
})
