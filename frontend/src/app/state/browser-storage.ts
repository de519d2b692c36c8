// What the browser remembers between visits, and in one tab between reloads. A sandboxed frame or a private window may
// refuse: then nothing is remembered.

import type { Trace } from '../../api/types'

function read(storage: () => Storage, key: string): string | null {
  try {
    return storage().getItem(`gradgraph.${key}`)
  } catch {
    return null
  }
}

/** Refused storage only costs the reader a choice, a run or an edit that they can make again. */
function write(storage: () => Storage, key: string, value: string | null): void {
  try {
    if (value === null) storage().removeItem(`gradgraph.${key}`)
    else storage().setItem(`gradgraph.${key}`, value)
  } catch {
    // Nothing is remembered.
  }
}

const browser = (): Storage => localStorage
const tab = (): Storage => sessionStorage

export function remembered(key: string): string | null {
  return read(browser, key)
}

export function remember(key: string, value: string): void {
  write(browser, key, value)
}

/** What a tab keeps as JSON; null where something else stands there. */
function parsed(key: string): unknown {
  try {
    return JSON.parse(read(tab, key) ?? 'null') as unknown
  } catch {
    return null
  }
}

/** What the page made a run for, to be said in its words. */
interface MadeFor {
  key: string
  name: string
}

/** A run of this tab, with a line that tells it from the one before. */
export interface Recent {
  id: string
  at: number
  lesson: string | null
  line: string | MadeFor
  status: string
}

type Told = Pick<Trace['program'], 'code' | 'seed'>

const RUNS = 'runs'
const MOST_RUNS = 12

/** Runs of this tab, newest first. */
export function recentRuns(): readonly Recent[] {
  const runs = parsed(RUNS)
  return Array.isArray(runs) ? (runs as Recent[]) : []
}

export function keepRun(known: readonly Recent[], run: Recent): readonly Recent[] {
  const runs = [run, ...known.filter(({ id }) => id !== run.id)].slice(0, MOST_RUNS)
  write(tab, RUNS, JSON.stringify(runs))
  return runs
}

/** What tells a run from the one before: the first line that is new, or the seed; else its first line that imports
 *  nothing. */
export function tellingLine({ code, seed = 0 }: Told, before: Told): string {
  if (code === before.code && seed !== (before.seed ?? 0)) return `seed ${seed}`
  return newLine({ code }, before) ?? told(linesOf(code)[0] ?? '')
}

/** The first line of a program that another one does not have. */
export function newLine({ code }: Told, before: Told): string | undefined {
  const known = new Set(before.code.split('\n'))
  const line = linesOf(code).find((line) => !known.has(line))
  return line && told(line)
}

/** What a program does; `pass` only stands where a statement was taken out. */
function linesOf(code: string): string[] {
  return code.split('\n').filter((line) => !/^\s*(#|import\b|from\b|pass\s*$|$)/.test(line))
}

const told = (line: string): string => line.trim().slice(0, 60)

/** A snapshot made in this browser, with what deletes it. */
export interface Owned {
  id: string
  token: string
  at: number
  line: string
}

const SNAPSHOTS = 'snapshots'

/** Snapshots made in this browser, newest first. */
export function ownSnapshots(): readonly Owned[] {
  try {
    const owned: unknown = JSON.parse(remembered(SNAPSHOTS) ?? 'null')
    return Array.isArray(owned) ? (owned as Owned[]) : []
  } catch {
    return []
  }
}

export function keepOwned(owned: readonly Owned[]): void {
  remember(SNAPSHOTS, JSON.stringify(owned))
}

/** The program as it was edited after a run (null: before any) but not run yet. */
interface Unrun {
  run: string | null
  code: string
}

const DRAFTS = 'drafts'

function drafts(): readonly Unrun[] {
  const kept = parsed(DRAFTS)
  return Array.isArray(kept) ? (kept as Unrun[]) : []
}

/** What was made of the program of a run; null when that was run, or is the same. */
export function draftOf(run: string | null): string | null {
  return drafts().find((draft) => draft.run === run)?.code ?? null
}

/** Of each run the latest draft: one goes back and forward between them. What has been run is none, nor that of a run
 *  before. */
export function keepDraft(run: string | null, code: string, ran: string): void {
  const others = drafts().filter((draft) => draft.run !== run && draft.code !== code && draft.code !== ran)
  const all = code === ran ? others : [{ run, code }, ...others].slice(0, MOST_RUNS)
  write(tab, DRAFTS, all.length > 0 ? JSON.stringify(all) : null)
}

const GIVEN_UP = 'given-up'

/** The page goes while a run is under way, of which nothing will come. */
export function keepGivenUp(): void {
  write(tab, GIVEN_UP, 'yes')
}

/** Whether the page before this one went so; told once. */
export function wasGivenUp(): boolean {
  const was = read(tab, GIVEN_UP) !== null
  write(tab, GIVEN_UP, null)
  return was
}
