// A view state as an address says it: short and readable. Apart from address.ts, for embeds open long before they are
// left by one.

import type { Selection, ViewState } from './state'

/** `run=k3&step=7&sel=b.n4&open=m1.m2`, without what equals the defaults; no leading `#` or `?`. */
export function encodeState(state: ViewState, defaults: ViewState): string {
  const parts: string[] = []
  const add = (key: string, value: string) => parts.push(`${key}=${value}`)
  if (state.run !== null) add('run', pack(state.run))
  if (state.lesson !== null) add('lesson', pack(state.lesson))
  if (state.step !== (state.run === null ? defaults.step : Infinity)) add('step', String(state.step))
  if (state.selection) add('sel', encodeSelection(state.selection))
  if (state.expanded) add('open', [...state.expanded].sort().map(pack).join('.') || '-')
  if (state.level !== defaults.level) add('level', state.level)
  if (state.root !== null) add('root', pack(state.root))
  if (state.pass !== null) add('pass', pack(state.pass))
  if (state.panel !== null) add('panel', state.panel)
  if (state.beside.length > 0) add('with', state.beside.map(pack).join('.'))
  if (state.lang !== defaults.lang) add('lang', state.lang)
  if (state.theme !== defaults.theme) add('theme', state.theme)
  return parts.join('&')
}

function encodeSelection(selection: Selection): string {
  if (selection.kind === 'line') return `l.${selection.line}`
  return `${selection.kind[0]}.${pack(selection.id)}`
}

/** Percent-encoding that also guards the dot that separates ids. */
function pack(text: string): string {
  return encodeURIComponent(text).replace(/\./g, '%2E')
}
