// What the browser remembers between visits, and in one tab between reloads. A sandboxed frame or a private window may
// refuse: then nothing is remembered.

import type { Trace } from '../../api/types'

export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(`gradgraph.${key}`)
  } catch {
    return null
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(`gradgraph.${key}`, value)
  } catch {
    // Refused storage only costs the reader a choice they can make again.
  }
}

/** A run of this tab, with a line that tells it from the one before. */
export interface Recent {
  id: string
  at: number
  lesson: string | null
  line: string
  status: string
}

type Told = Pick<Trace['program'], 'code' | 'seed'>

const RUNS = 'gradgraph.runs'
const MOST_RUNS = 12

/** Runs of this tab, newest first. */
export function recentRuns(): readonly Recent[] {
  try {
    const runs = JSON.parse(sessionStorage.getItem(RUNS) ?? '[]') as unknown
    return Array.isArray(runs) ? (runs as Recent[]) : []
  } catch {
    return []
  }
}

export function keepRun(known: readonly Recent[], run: Recent): readonly Recent[] {
  const runs = [run, ...known.filter((one) => one.id !== run.id)].slice(0, MOST_RUNS)
  try {
    sessionStorage.setItem(RUNS, JSON.stringify(runs))
  } catch {
    // Without storage only the runs since the page was opened are offered.
  }
  return runs
}

/** What tells a run from the one before: the first line that is new, or the seed; else its first line that imports
 *  nothing. */
export function tellingLine({ code, seed = 0 }: Told, before: Told): string {
  if (code === before.code && seed !== (before.seed ?? 0)) return `seed ${seed}`
  const known = new Set(before.code.split('\n'))
  const lines = code.split('\n').filter((line) => line.trim() !== '' && !/^\s*(#|import\b|from\b)/.test(line))
  return (lines.find((line) => !known.has(line)) ?? lines[0] ?? '').trim().slice(0, 60)
}

const DRAFT = 'gradgraph.draft'

/** The program as it was edited after a run (null: before any) but not run yet; null when there is none. */
export function draftOf(run: string | null): string | null {
  try {
    const draft = JSON.parse(sessionStorage.getItem(DRAFT) ?? 'null') as { run: string | null; code: string } | null
    return draft?.run === run ? draft.code : null
  } catch {
    return null
  }
}

export function keepDraft(run: string | null, code: string | null): void {
  try {
    if (code === null) sessionStorage.removeItem(DRAFT)
    else sessionStorage.setItem(DRAFT, JSON.stringify({ run, code }))
  } catch {
    // Without storage a reload only brings back the program as it last ran.
  }
}
