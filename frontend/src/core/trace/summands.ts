// What the `.grad` of a leaf was put together from by a step: what each pass added since it was last reset, and what
// changed it by hand.

import type { Entry, History } from './history'

export type Added = Extract<Entry, { kind: 'pass' }>

export type Changed = Exclude<Entry, Added>

interface Summands {
  /** Oldest first. Where the last reset is the end of the story, what came before it. */
  added: Added[]
  /** What the program itself made of the gradient since then, such as a clipping. */
  changed: Changed[]
  /** The reset they come after, or before it. */
  reset: Entry | null
  isCleared: boolean
  /** The next pass that will add to it. */
  next: Added | null
}

/** A gradient counts as arrived once its terms are summed, which is told a step before the leaf takes it. */
export function summandsAt(history: History, leaf: string, step: number): Summands {
  const { index } = history
  const entries = history.account(leaf)?.entries ?? []
  const isHere = (entry: Entry): boolean => {
    const sum = entry.kind === 'pass' ? index.sumStep(entry.pass.id, entry.accumulation.visit, 0) : 0
    return (sum || entry.step) <= step
  }
  const here = entries.filter(isHere)
  const last = here.findLastIndex((entry) => entry.kind === 'reset')
  const isAdded = (entry: Entry): entry is Added => entry.kind === 'pass'
  const isChanged = (entry: Entry): entry is Changed => entry.kind === 'changed'
  const next = entries.filter(isAdded).find((entry) => !isHere(entry)) ?? null
  const isCleared = here.some(isAdded) && last === here.length - 1 && !next
  const told = isCleared ? here : here.slice(last + 1)
  return { added: told.filter(isAdded), changed: told.filter(isChanged), reset: here[last] ?? null, isCleared, next }
}
