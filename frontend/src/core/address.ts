// The view state from an address, tolerant of anything a person may have edited; address-text.ts writes it.

import { MOST_BESIDE, PANELS, type Lang, type Level, type Selection, type Theme, type ViewState } from './state'

export const START: ViewState = {
  run: null,
  lesson: null,
  step: 0,
  selection: null,
  expanded: null,
  level: 'both',
  root: null,
  pass: null,
  panel: null,
  beside: [],
  lang: 'zh',
  theme: 'auto',
}

/** The end of a run, however long it is. */
export const LAST = Infinity

const LANGS: readonly Lang[] = ['zh', 'en']
const THEMES: readonly Theme[] = ['light', 'dark', 'auto']
const LEVELS: readonly Level[] = ['autograd', 'forward', 'both']
const KINDS = { b: 'box', e: 'edge', g: 'group' } as const

/** The state in a hash or query; what is missing or makes no sense takes its default, a run that is named alone its
 *  end. */
export function decodeState(address: string, defaults: ViewState = START): ViewState {
  const found = new Map<string, string>()
  for (const part of address.replace(/^[#?]/, '').split('&')) {
    const at = part.indexOf('=')
    if (at > 0) found.set(part.slice(0, at), part.slice(at + 1))
  }
  const text = (key: string, otherwise: string | null) => (found.has(key) ? unpack(found.get(key)!) || null : otherwise)
  return {
    run: text('run', defaults.run),
    lesson: text('lesson', defaults.lesson),
    step: wholeNumber(found.get('step')) ?? (found.has('run') && defaults.run === null ? LAST : defaults.step),
    selection: found.has('sel') ? decodeSelection(found.get('sel')!) : defaults.selection,
    expanded: found.has('open') ? decodeOpen(found.get('open')!) : defaults.expanded,
    level: oneOf(LEVELS, found.get('level')) ?? defaults.level,
    root: text('root', defaults.root),
    pass: text('pass', defaults.pass),
    panel: oneOf(PANELS, found.get('panel')) ?? defaults.panel,
    beside: found.has('with') ? [...decodeOpen(found.get('with')!)].slice(0, MOST_BESIDE) : defaults.beside,
    lang: oneOf(LANGS, found.get('lang')) ?? defaults.lang,
    theme: oneOf(THEMES, found.get('theme')) ?? defaults.theme,
  }
}

/** The view as a snapshot keeps it: all but the run, which is in the snapshot itself. */
export type KeptView = Omit<ViewState, 'run' | 'expanded'> & { expanded: readonly string[] | null }

export function toKept({ run: _run, expanded, ...view }: ViewState): KeptView {
  return { ...view, expanded: expanded && [...expanded].sort() }
}

/** The view of a snapshot, from the JSON that its page was given. */
export function fromKept(run: string, json: string): ViewState {
  const { expanded, ...view } = JSON.parse(json) as KeptView
  return { ...view, run, expanded: expanded && new Set(expanded) }
}

function decodeSelection(text: string): Selection | null {
  const at = text.indexOf('.')
  const [kind, rest] = [text.slice(0, at), unpack(text.slice(at + 1))]
  if (at < 0 || rest === '') return null
  if (kind === 'l') {
    const line = wholeNumber(rest)
    return line ? { kind: 'line', line } : null
  }
  const known = kind in KINDS ? KINDS[kind as keyof typeof KINDS] : undefined
  return known ? { kind: known, id: rest } : null
}

function decodeOpen(text: string): Set<string> {
  return new Set(text.split('.').map(unpack).filter((id) => id !== '' && id !== '-'))
}

function unpack(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function wholeNumber(text: string | null | undefined): number | null {
  return text != null && /^\d{1,9}$/.test(text) ? Number(text) : null
}

function oneOf<T extends string>(allowed: readonly T[], value: string | undefined): T | null {
  return allowed.find((known) => known === value) ?? null
}
