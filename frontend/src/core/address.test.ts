import { expect, test } from 'vitest'
import type { ViewState } from './state'
import { decodeState, fromKept, LAST, START, toKept } from './address'
import { encodeState } from './address-text'

const full: ViewState = {
  run: 'k3Jx9',
  lesson: 'diamond',
  step: 7,
  selection: { kind: 'edge', id: 'n1>n2#1' },
  expanded: new Set(['model.fc1', 'm2']),
  level: 'forward',
  root: 'n4',
  pass: 'p2',
  panel: 'compare',
  beside: ['abc', 'x.y'],
  lang: 'en',
  theme: 'dark',
}

test('every field survives the address', () => {
  expect(decodeState(`#${encodeState(full, START)}`)).toEqual(full)
  expect(decodeState(`?${encodeState({ ...full, selection: { kind: 'line', line: 4 } }, START)}`).selection).toEqual({
    kind: 'line', line: 4,
  })
})

test('every field survives a snapshot', () => {
  expect(fromKept('k3Jx9', JSON.stringify(toKept(full)))).toEqual(full)
  expect(fromKept('k3Jx9', JSON.stringify(toKept({ ...START, run: 'k3Jx9' })))).toEqual({ ...START, run: 'k3Jx9' })
})

test('a run that is named alone is seen at its end, and its beginning is said', () => {
  expect(decodeState('#run=k3').step).toBe(LAST)
  expect(encodeState({ ...START, run: 'k3', step: LAST }, START)).toBe('run=k3')
  expect(encodeState({ ...START, run: 'k3' }, START)).toBe('run=k3&step=0')
  expect(decodeState('run=k3&step=0').step).toBe(0)
})

test('the start is an empty address', () => {
  expect(encodeState(START, START)).toBe('')
  expect(decodeState('')).toEqual(START)
})

test('everything folded differs from the opening choice', () => {
  expect(decodeState(encodeState({ ...START, expanded: new Set() }, START)).expanded).toEqual(new Set())
  expect(decodeState(encodeState(START, START)).expanded).toBeNull()
})

test('an address edited by hand is read as far as it makes sense', () => {
  const state = decodeState('#step=-3&lang=fr&sel=box&theme=dark&run=%E0%A4%A&level=&panel=kitchen&with=&&=x&step')
  expect(state).toEqual({ ...START, theme: 'dark', run: '%E0%A4%A', step: LAST })
})

test('a state that differs from other defaults is written out', () => {
  const defaults = { ...START, lang: 'en' as const }
  expect(encodeState({ ...START, lang: 'zh' }, defaults)).toBe('lang=zh')
  expect(decodeState('', defaults).lang).toBe('en')
})
