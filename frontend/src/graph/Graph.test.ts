// @vitest-environment happy-dom
import { flushSync, mount, unmount } from 'svelte'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { load, type Name } from '../core/fixtures/load'
import { until } from '../core/fixtures/until'
import type { Selection } from '../core/state'
import { words } from '../core/words/bundled'
import Graph from './Graph.svelte'
import { PageStage } from './drawn'
import { LayoutClient } from './layout-client'

// No worker here: the page's own thread lays out, as in a sandboxed frame.
let shown: Record<string, unknown> | null = null

// happy-dom has no geometry of its own.
beforeAll(() => {
  for (const [side, size] of [
    ['clientWidth', 1000], ['clientHeight', 760],
  ] as const)
    Object.defineProperty(HTMLElement.prototype, side, { get: () => size })
})

afterEach(() => {
  if (shown) void unmount(shown)
  shown = null
  document.body.innerHTML = ''
})

async function show(
  name: Name, more: { step?: number; expanded?: ReadonlySet<string>; selection?: Selection | null } = {},
) {
  const { trace, graph } = load(name)
  const heard = { select: vi.fn(), step: vi.fn(), expand: vi.fn(), hover: vi.fn() }
  shown = mount(Graph, {
    target: document.body,
    props: {
      trace,
      graph,
      step: more.step ?? trace.timeline.length,
      selection: more.selection ?? null,
      expanded: more.expanded ?? null,
      lang: 'en',
      theme: 'light',
      words: words('en'),
      layouts: new LayoutClient(),
      PageStage,
      onselect: heard.select,
      onstep: heard.step,
      onexpand: heard.expand,
      onhover: heard.hover,
    },
  })
  await until(() => {
    flushSync()
    expect(boxes()).not.toEqual([])
  })
  return { heard, graph }
}

function boxes(): Element[] {
  return [...document.querySelectorAll('[data-id]')]
}

async function press(key: string): Promise<void> {
  document.querySelector('svg.gg-scene')!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
  await vi.dynamicImportSettled()
  flushSync()
}

test('every box is a named button, and one of them is the tab stop', async () => {
  const { graph } = await show('scalar_expression')
  expect(
    boxes()
      .map((box) => box.getAttribute('data-id'))
      .sort(),
  ).toEqual(graph.boxes.map((box) => box.id).sort())
  expect(boxes().map((box) => box.getAttribute('aria-label'))).toContain(
    'PowBackward0 · x ** 2 · 4 · backward: gradient 1',
  )
  expect(boxes().filter((box) => box.getAttribute('tabindex') === '0')).toHaveLength(1)
})

test('arrows follow the edges', async () => {
  const { heard, graph } = await show('scalar_expression')
  const named = (name: string) => graph.boxes.find((box) => box.name === name)!.id
  await press('ArrowDown')
  const [first] = heard.select.mock.lastCall as [Selection & { id: string }]
  expect([named('x ** 2'), named('3 * x')]).toContain(first.id)
  await press('ArrowDown')
  expect(heard.select).toHaveBeenLastCalledWith({ kind: 'box', id: named('x ** 2 + 3 * x') })
})

test('keys act on the box that was given the focus, by whatever way', async () => {
  const { heard, graph } = await show('scalar_expression')
  const { id } = graph.boxes.find((box) => box.name === 'x ** 2')!
  const box = boxes().find((one) => one.getAttribute('data-id') === id)!
  box.dispatchEvent(new FocusEvent('focusin', { bubbles: true }))
  await press('Enter')
  expect(heard.select).toHaveBeenLastCalledWith({ kind: 'box', id })
})

test('Enter opens and folds groups', async () => {
  const { heard, graph } = await show('attention', { expanded: new Set() })
  const group = boxes().find((box) => box.getAttribute('aria-expanded') === 'false')!
  expect(graph.groups.map((one) => one.id)).toContain(group.getAttribute('data-id'))
  for (let tries = 0; tries < 4 && heard.expand.mock.calls.length === 0; tries++) {
    await press('Enter')
    await press('ArrowDown')
  }
  expect(heard.expand).toHaveBeenCalledWith(new Set([group.getAttribute('data-id')]))
})

test('step numbers in the margin lead to their step', async () => {
  const { heard } = await show('scalar_expression')
  const link = document.querySelector('[data-step="3"]')!
  for (const kind of ['pointerdown', 'pointerup'])
    link.dispatchEvent(new PointerEvent(kind, { bubbles: true, button: 0, pointerId: 1 }))
  expect(heard.step).toHaveBeenCalledWith(3)
})

test('what is happening at a box never stands on the number of its visit', async () => {
  const { timeline } = load('accumulation').trace
  for (let step = 1; step <= timeline.length; step += 1) {
    await show('accumulation', { step })
    for (const box of boxes()) {
      const places = [...box.parentElement!.querySelectorAll('text.step-b, text.step-w')].map(
        (text) => `${text.getAttribute('x')} ${text.getAttribute('y')}`,
      )
      expect(new Set(places).size, `step ${step}: ${places.join(', ')}`).toBe(places.length)
    }
    void unmount(shown!)
    shown = null
    document.body.innerHTML = ''
  }
})
