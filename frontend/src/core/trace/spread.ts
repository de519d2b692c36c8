// How the answers of a class spread: those that say the same stand together.

import type { Question } from '../../api/types'
import { judge, numbersIn, saysSame, type Verdict } from './answers'

/** One answer, by its most frequent spelling. */
interface Bar {
  text: string
  count: number
  verdict: Verdict
}

/** The most frequent answers first; choices in their own order, those that nobody took too. */
export function spread(question: Question, answers: readonly (readonly [string, number])[]): readonly Bar[] {
  const bars: Bar[] = (question.kind === 'choice' ? question.choices ?? [] : []).map((text) => barOf(question, text, 0))
  for (const [text, count] of [...answers].sort(([, a], [, b]) => b - a)) {
    const bar = barOf(question, text, count)
    const says = (one: Bar): boolean => one.verdict === bar.verdict && isNear(one.text, text)
    const known = bars.find((one) => means(one.text) === means(text) || says(one))
    if (known) known.count += count
    else bars.push(bar)
  }
  return question.kind === 'choice' ? bars : bars.sort((a, b) => b.count - a.count)
}

function barOf(question: Question, text: string, count: number): Bar {
  return { text, count, verdict: judge(question, text) }
}

function means(text: string): string {
  return text.trim().toLowerCase()
}

function isNear(a: string, b: string): boolean {
  const [here, there] = [numbersIn(a), numbersIn(b)]
  return here !== null && there !== null && saysSame(here, there)
}
