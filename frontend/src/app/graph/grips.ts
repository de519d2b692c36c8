// Numbers of the graph, elements of leaves and constants, as handles of the program's numbers.

import { constantLiterals } from '../../core/trace/constant-literals'
import { elementLiterals, literals, playedAt, playedIn } from '../../core/trace/literals'
import type { TraceIndex } from '../../core/trace/trace-index'
import { heldAt, type Grips, type Held } from '../../graph/grip'
import { dragNumber } from '../elements/turning'
import type { Parts } from '../state/playground'

export function gripsOf({ run, draft, runner }: Parts<'run' | 'draft' | 'runner'>): Grips {
  return (...at) => {
    const held = run.index && !draft.edited ? heldAt(...at) : null
    const place = held && placeOf(run.index!, held)
    const literal = place == null ? undefined : playedAt(literals(draft.code), place, playedIn(run.trace))
    return literal && held
      ? (event, pressed) => {
          const turn = (code: string, stroke: number) => runner.turn(code, stroke)
          dragNumber(event, draft.code, literal, turn, () => pressed(held.box.id))
        }
      : null
  }
}

/** The place of its literal among the numbers of the program. */
function placeOf(index: TraceIndex, held: Held): number | null | undefined {
  if ('tensor' in held) {
    const tensor = index.tensor(held.tensor)
    return tensor && elementLiterals(index, tensor)?.[held.element]
  }
  const op = index.op(held.box.op)
  return op && constantLiterals(index, op, held.box.constants ?? [])[held.constant]
}
