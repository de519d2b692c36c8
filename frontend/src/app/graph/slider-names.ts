// What sliders are called.

import type { Slider } from '../../api/types'

const MAKES = /^\s*([\p{L}_][\p{L}\p{N}_]*(?:\s*,\s*[\p{L}_][\p{L}\p{N}_]*)*)\s*=(?!=)/u

/** Each by its name; where several have the same, with what its line makes before it: `adam · lr`, of several things
 *  the last. Those that are alike still are numbered. */
export function namesOf(sliders: readonly Slider[], code: string): readonly string[] {
  const lines = code.split('\n')
  const names = sliders.map(({ name, span }) => {
    const isAlone = sliders.filter((other) => other.name === name).length === 1
    const made = isAlone ? undefined : MAKES.exec(lines[span.line - 1] ?? '')?.[1]?.split(/\s*,\s*/).at(-1)
    return made && made !== name ? `${made} · ${name}` : name
  })
  return names.map((name, at) => {
    const before = names.slice(0, at).filter((other) => other === name).length
    return before > 0 ? `${name} #${before + 1}` : name
  })
}
