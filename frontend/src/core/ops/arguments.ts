// Which of an op's arguments stands for a parameter.

import type { Argument, Op } from '../../api/types'

/** The argument given by a keyword, else at a place. */
export function argumentOf(op: Op, name: string, place: number): Argument | undefined {
  return op.arguments.find((one) => one.name === name) ?? op.arguments.filter((one) => !one.name)[place]
}
