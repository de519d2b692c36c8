// The playground's state, put together once. Views are handed the parts they need, never all of it.

import { Catalogue } from './catalogue.svelte'
import { Draft } from './draft.svelte'
import { Playback } from './playback.svelte'
import { Questions } from './questions.svelte'
import { Run } from './run.svelte'
import { Runner } from './runner.svelte'
import { PageView } from './view.svelte'

export function playground() {
  const questions = new Questions()
  const run = new Run(questions)
  const draft = new Draft(run)
  const view = new PageView(run, draft)
  const playback = new Playback(run, view)
  const catalogue = new Catalogue(view)
  return {
    run, draft, view, playback, catalogue, questions, runner: new Runner(run, draft, view, playback, catalogue),
  }
}

export type Playground = ReturnType<typeof playground>

/** What a view is handed of it. */
export type Parts<Name extends keyof Playground> = Pick<Playground, Name>
