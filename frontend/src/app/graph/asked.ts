// What an answer speaks of comes into view, where a class looks at the answer.

import type { Question } from '../../api/types'
import { pointedIn } from '../../core/trace/pointing'
import type { Run } from '../state/run.svelte'
import type { PageView } from '../state/view.svelte'

const FACT = /\.(shape|dtype|requires_grad|is_leaf|_version)$/

/** Marks the box of the tensor that was asked for, and opens nothing over it. */
export function showAsked({ text }: Question, run: Run, view: PageView): void {
  const id = [...(pointedIn(run, text.replace(FACT, ''))?.boxes ?? [])].at(-1)
  if (id === undefined) return
  view.select({ kind: 'box', id })
  view.unasked = view.state.selection
}
