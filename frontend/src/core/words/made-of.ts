// Whether a program still is the lesson it was made of.

/** Whether half of a program's lines, those without words apart, stand in another. */
export function isMadeOf(code: string, other: string): boolean {
  const lines = other.split('\n').filter((line) => /\w/.test(line))
  const kept = new Set(code.split('\n'))
  return lines.filter((line) => kept.has(line)).length * 2 >= lines.length
}
