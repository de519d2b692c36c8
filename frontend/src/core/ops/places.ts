// Where a cell of a tensor stands on each axis, and back.

export function count(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1)
}

/** Where a cell is, axis by axis. */
export function positions(shape: readonly number[], cell: number): number[] {
  const at: number[] = []
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const size = shape[axis]!
    at.unshift(cell % size)
    cell = Math.floor(cell / size)
  }
  return at
}

/** The cell at a place, in row-major order. */
export function flat(shape: readonly number[], at: readonly number[]): number {
  return shape.reduce((sum, size, axis) => sum * size + at[axis]!, 0)
}

/** The cell of an operand that broadcasting puts at a cell of the result. */
export function stretchedFrom(operand: readonly number[], result: readonly number[], cell: number): number {
  const at = positions(result, cell).slice(result.length - operand.length)
  return flat(operand, at.map((where, axis) => (operand[axis] === 1 ? 0 : where)))
}

/** `[1][0]`, as one writes it; nothing for a scalar. */
export function brackets(at: readonly (number | string)[]): string {
  return at.map((number) => `[${number}]`).join('')
}

/** A name for places to be written behind it: code in brackets, `(x @ w)`. */
export function placeable(name: string): string {
  return /^[\p{L}_][\p{L}\w.]*(\[\w+\])*$/u.test(name) ? name : `(${name})`
}
