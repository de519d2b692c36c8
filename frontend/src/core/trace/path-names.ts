// What the beginnings and the factors of paths are called, in a few letters.

import type { Words } from '../words/sentences'
import type { Factor, Path, Start } from './contributions'
import type { Node } from '../../api/types'
import { codeOf, nodeName, shortType } from './naming'
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
    const name = shortened(full)
    const alike = named.filter((other) => shortened(other.full) === name)
    if (alike.some((other) => other.type !== type)) return [node, `${name} · ${type}`]
    return [node, alike.some((other) => other.full !== full) ? full : name]
  }))
}

/** Of a node on the way inside a call the code of the call. */
function fullName(index: TraceIndex, node: Node): string {
  const [name, op] = [nodeName(index, node), index.op(node.op)]
  return name === node.type && op ? codeOf(index, op) : name
}

/** The ends tell calls on one thing apart; a text that was cut has only a beginning. */
function shortened(text: string): string {
  if (text.length <= MOST_LETTERS) return text
  if (text.endsWith('…')) return `${text.slice(0, MOST_LETTERS - 1)}…`
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
