// What the beginnings and the factors of paths are called, in a few letters.

import type { Words } from '../words/sentences'
import type { Factor, Path, Start } from './contributions'
import type { Node } from '../../api/types'
import { derivativeName, opName, shortType } from './naming'
import type { TraceIndex } from './trace-index'

const MOST_LETTERS = 18

/** Nodes of which each element that they send depends on several that arrived, in a way that is no sum of products of
 *  kept numbers. */
const MIXES = new RegExp('Norm|Conv|Softmax|Cumprod|Logcumsumexp|Attention|Fft|Pool|mm|Mm|Mv|Lstm|Gru|Rnn|' +
  'Upsample|GridSampler|Bilinear|Inverse|Solve|Det|Svd|Eig|Cholesky|Qr')

/** Names of the nodes on the paths of one contribution: no two are alike but of nodes that are, such as one expression
 *  in the turns of a loop. */
export function namesOn(index: TraceIndex, paths: readonly Path[]): ReadonlyMap<Node, string> {
  const nodes = new Set(paths.flatMap(({ start, factors }) => [start, ...factors].flatMap(({ node }) => node ?? [])))
  const named = [...nodes].map((node) => ({ node, full: fullName(index, node), type: shortType(node.type) }))
  return new Map(named.map(({ node, full, type }) => {
    const others = named.filter((other) => other.full !== full)
    const name = [shortened, ends].map((cut) => [cut(full), others.every((other) => cut(other.full) !== cut(full))])
      .find(([, isOwn]) => isOwn)?.[0] ?? full
    const isTyped = named.some((other) => other.full === full && other.type !== type && other.node.op !== node.op)
    return [node, isTyped ? `${name} · ${type}` : `${name}`]
  }))
}

/** Of a node on the way inside a call what the call gave. */
function fullName(index: TraceIndex, node: Node): string {
  const [name, op] = [derivativeName(index, node), index.op(node.op)]
  return name === node.type && op ? opName(index, op) : name
}

/** A text of few letters: without the middle of a chain of calls or of a sum, or without what its calls are given; of
 *  one that was cut its beginning. */
function shortened(text: string): string {
  if (text.length <= MOST_LETTERS) return text
  if (text.endsWith('…')) return `${text.slice(0, MOST_LETTERS - 1)}…`
  const [first = '', ...rest] = pieces(text)
  const bare = rest.map((piece) => piece.replace(/([([]).*([)\]])$/, '$1…$2'))
  const shorter = [rest, bare].flatMap((list) => list.map((_, at) =>
    `${first}${at ? list[at]!.replace(/^( ?).*/, '$1…') : ''}${list.slice(at).join('')}`))
  return shorter.find(({ length }) => length <= MOST_LETTERS) ?? ends(text)
}

/** `['k', '.sum(1)', ' + a * b']` … where no brackets are open: at a dot or before an operator. */
function pieces(text: string): string[] {
  let depth = 0
  const found = ['']
  text.split(/(?=[([)\]]|\.[^\W\d]| [^\w\s]+ )/).forEach((part) => {
    if (/^[)\]]/.test(part)) depth -= 1
    if (depth === 0 && /^[. ]/.test(part)) found.push('')
    if (/^[([]/.test(part)) depth += 1
    found[found.length - 1] += part
  })
  return found
}

/** The ends tell apart what begins alike. */
function ends(text: string): string {
  if (text.length <= MOST_LETTERS) return text
  const half = MOST_LETTERS / 2
  return `${text.slice(0, half).trimEnd()}…${text.slice(1 - half).trimStart()}`
}

export function mixes(node: Node | undefined): boolean {
  return MIXES.test(node?.type ?? '')
}

/** Where a path begins, and why there. */
export function startText(
  { kind, node, place, products }: Start, names: ReadonlyMap<Node, string>, t: Words,
): string {
  if (kind === 'seed') return placed(t('why.put_in'), place)
  const name = placed(node ? (names.get(node) ?? '') : '', place)
  const isSum = products > 1
  const why = isSum ? 'added' : mixes(node) ? 'mixes' : kind
  const key = kind === 'node' ? why : kind === 'arrived' && isSum ? 'terms' : kind
  return t(`why.${key}`, { name, n: products })
}

/** Factors told as one by their name, or by the first and the last. */
export function runText(run: readonly Factor[], names: ReadonlyMap<Node, string>): string {
  const [first = '', ...others] = run.map(({ node, place }) => placed(names.get(node) ?? '', place))
  if (others.length === 0) return first
  return others.every((name) => name === first) ? `${first} ×${run.length}` : `${first} → ${others.at(-1)!}`
}

function placed(name: string, place: string): string {
  return place ? `${name} ${place}` : name
}
