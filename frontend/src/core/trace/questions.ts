// What a program asks its reader.

import type { Question, Trace } from '../../api/types'

/** Questions that can be asked, in order; those the trace cannot answer are for their author. */
export function askable(trace: Trace): readonly Question[] {
  return (trace.questions ?? []).filter(({ problem }) => !problem)
}

/** What tells one question of one program from all others. */
export function keyOf({ program }: Trace, question: Question): string {
  let hash = 0
  for (const letter of program.code) hash = (hash * 31 + letter.charCodeAt(0)) | 0
  return `${(hash >>> 0).toString(36)}.${question.span.line}.${question.text}`
}

/** What programs have in common that differ in numbers only. */
export function withoutNumbers(code: string): string {
  return code.replace(/-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/gi, '#')
}
