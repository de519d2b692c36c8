// How one cell of a result came about, written with its numbers: `1·4 + 2·5 = 14`, `max(1, 3) = 3`.

import { asWritten, signBetween } from '../words/equation'
import { formatNumber, plus, asTerm } from '../words/format'

/** What becomes of the terms of a cell: their sum, their mean, the largest; or the factors of the only one taken
 *  together by an operator. */
export type Way = 'sum' | 'mean' | 'max' | '+' | '−' | '·' | '/'

const MOST_TERMS = 5
const MOST_LISTED = 9

/** How far the rounding of the written numbers may take what they come to from the result. */
const ROUNDING = 1e-3

/** The equation of a cell; `≈` where rounding keeps the written numbers apart, null where they don't come to it. Of a
 *  mean `over` says by what it is divided; of a sum `most` how many terms are written. */
export function written(
  way: Way, terms: readonly (readonly number[])[], made: number, over = terms.length, most = MOST_TERMS,
): string | null {
  if (terms.length === 0) return null
  const sign = signOf(way, terms, made, over)
  return sign && `${text(way, terms, over, most)} ${sign} ${formatNumber(made)}`
}

function text(way: Way, terms: readonly (readonly number[])[], over: number, most: number): string {
  const products = terms.map((term) => (term.length === 1 ? formatNumber(term[0]!) : term.map(factor).join('·')))
  switch (way) {
    case 'sum':
      return plus(shortened(products, most))
    case 'mean':
      return `(${plus(shortened(products, MOST_LISTED))}) / ${over}`
    case 'max':
      return `max(${shortened(terms.map(([value]) => formatNumber(value!)), MOST_LISTED).join(', ')})`
    case '·':
      return products[0]!
    case '+':
    case '−':
      return plus(terms[0]!.map(formatNumber), way)
    default:
      return terms[0]!.map(factor).join(` ${way} `)
  }
}

function shortened(texts: readonly string[], most: number): readonly string[] {
  return texts.length > most ? [...texts.slice(0, most - 2), '…', texts[texts.length - 1]!] : texts
}

/** The sign between the terms as they are written and the result as it is. */
function signOf(way: Way, terms: readonly (readonly number[])[], made: number, over: number): '=' | '≈' | null {
  const products = terms.map((term) => together(way, term.map(asWritten)))
  const sum = products.reduce((a, b) => a + b, 0)
  const value = way === 'max' ? Math.max(...products) : way === 'mean' ? sum / over : sum
  const added = way === '+' || way === '−' ? terms[0]! : products
  const size = added.reduce((total, part) => total + Math.abs(part), 0)
  return signBetween(value, asWritten(made), ROUNDING * size)
}

function together(way: Way, [first = 0, ...others]: readonly number[]): number {
  switch (way) {
    case '+': return others.reduce((a, b) => a + b, first)
    case '−': return others.reduce((a, b) => a - b, first)
    case '/': return others.reduce((a, b) => a / b, first)
    default: return others.reduce((a, b) => a * b, first)
  }
}

function factor(value: number): string {
  return asTerm(formatNumber(value))
}
