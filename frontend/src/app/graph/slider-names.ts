// What sliders are called.

import type { Slider } from '../../api/types'

const MAKES = /^\s*([\p{L}_][\p{L}\p{N}_]*)\s*=(?!=)/u

/** Each by its name; where several have the same, with what its line makes before it: `adam · lr`. */
export function namesOf(sliders: readonly Slider[], code: string): readonly string[] {
  const lines = code.split('\n')
  return sliders.map(({ name, span }) => {
    const isAlone = sliders.filter((other) => other.name === name).length === 1
    const made = isAlone ? undefined : MAKES.exec(lines[span.line - 1] ?? '')?.[1]
    return made && made !== name ? `${made} · ${name}` : name
  })
}
