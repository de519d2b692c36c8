// Elements of leaves in the graph, as handles of the program's numbers.

import { elementLiterals, literals, playedAt, playedIn, type Literal } from '../../core/trace/literals'
import type { Grips } from '../../graph/grip'
import { dragNumber } from '../elements/turning'
import type { Parts } from '../state/playground'

export function gripsOf({ run, draft, runner }: Parts<'run' | 'draft' | 'runner'>): Grips {
  function literalOf(tensor: string, element: number): Literal | undefined {
    const found = run.index?.tensor(tensor)
    const at = run.index && found && !draft.edited ? elementLiterals(run.index, found)?.[element] : undefined
    return at === undefined ? undefined : playedAt(literals(draft.code), at, playedIn(run.trace))
  }
  return {
    has: (tensor, element) => literalOf(tensor, element) !== undefined,
    take(tensor, element, event, pressed) {
      const literal = literalOf(tensor, element)
      if (literal) dragNumber(event, draft.code, literal, (code, stroke) => runner.turn(code, stroke), pressed)
    },
  }
}
