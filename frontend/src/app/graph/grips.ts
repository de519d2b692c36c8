// Numbers of the graph, elements of leaves and constants, as handles of the program's numbers.

import { constantLiterals } from '../../core/trace/constant-literals'
import { elementLiterals, playedAt, playedIn } from '../../core/trace/literals'
import type { TraceIndex } from '../../core/trace/trace-index'
import { heldAt, type Grips, type Held } from '../../graph/grip'
import { dragNumber, type Turn } from '../elements/turning'
import type { Parts } from '../state/playground'

/** They are those of the trace that is drawn: while a number is turned, that one and the page's take turns in being
 *  ahead. */
export function gripsOf({ draft, runner }: Parts<'draft' | 'runner'>): Grips {
  return (layout, view, ...at) => {
    const { index } = view.story
    const held = heldAt(layout, view, ...at)
    const places = held ? [...new Set(placesOf(index, held))] : []
    const all = places.length > 0 ? draft.numbers : []
    const [first, ...alike] = places.flatMap((place) => playedAt(all, place ?? -1, playedIn(index.trace)) ?? [])
    const literal = first && alike.length === places.length - 1 ? { ...first, alike } : null
    return literal && held
      ? (event, pressed) => {
          const turn: Turn = (...to) => runner.turn(...to)
          dragNumber(event, draft.code, literal, turn, () => pressed(held.box.id))
        }
      : null
  }
}

/** The places of its literals among the numbers of the program; null for what is none of them. */
function placesOf(index: TraceIndex, held: Held): readonly (number | null | undefined)[] {
  if ('tensor' in held) {
    const tensor = index.tensor(held.tensor)
    return [tensor && elementLiterals(index, tensor, held.box.span)?.[held.element]]
  }
  const op = index.op(held.box.op)
  return op ? held.constants.map((at) => constantLiterals(index, op, held.box)[at]) : []
}
