// What the browser remembers between visits, and in one tab between reloads. A sandboxed frame or a private window may refuse: then nothing is remembered.

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
