// One level of the layout: what stands in an open group, and the bundles of links between its nodes.

import type { Knot, LayoutGroup, LayoutLink, Size } from './geometry'
import { push } from '../trace/trace-index'

/** Wires of a level with more of them than this have no labels: there would be no room. Hovering one tells. */
const MOST_LABELLED = 160

export interface Hop {
  level: string
  from: string
  to: string
  link: LayoutLink
  toBox: boolean
  /** The level where both ends meet: the hop that carries the labels. */
  meets: boolean
}

export interface Shape {
  w: number
  h: number
  /** Centre x and top y of each node, in the order given. */
  nodes: readonly Knot[]
  /** How far down (in-ports) or up (out-ports) a port's wire runs straight before it may bend. */
  reaches: readonly number[]
  /** Interior points of each pair. */
  pairs: readonly (readonly Knot[])[]
}

export interface Level {
  id: string
  nodes: {
    key: string
    size: Size
    box: Size | null
    side: number
    tail: number
    role: 'item' | 'in' | 'out'
    across?: boolean
  }[]
  at: Map<string, number>
  bundles: Bundle[]
  shape: Shape
  header: number
  title: number
}

export interface Bundle {
  from: string
  to: string
  hops: Hop[]
  /** Bundles of one pair share dagre's edge. */
  pair: number
  labelled: boolean
  /** Joins the same two boxes as another one. */
  parallel: boolean
  reserve: number
}

/** Hops that are drawn as one wire. Each link into a visible box keeps its own, but where they are bundled. */
export function bundle(level: Level, hops: readonly Hop[], groups: ReadonlyMap<string, LayoutGroup>): void {
  const byKey = new Map<string, Bundle>()
  const pairs = new Map<string, number>()
  for (const hop of hops) {
    const pairKey = `${nodeOf(hop.from, level)} ${nodeOf(hop.to, level)}`
    let pair = pairs.get(pairKey)
    if (pair === undefined) pairs.set(pairKey, (pair = pairs.size))
    const key = hop.toBox && !groups.has(hop.to) && !hop.link.bundled
      ? `${pairKey} ${hop.from} ${hop.link.id}`
      : `${hop.from}|${hop.to}|${hop.link.value}`
    const bundle = byKey.get(key)
    if (bundle) bundle.hops.push(hop)
    else
      byKey.set(key, {
        from: hop.from, to: hop.to, hops: [hop], pair, parallel: false, reserve: 0,
        labelled: hop.link.bundled ? hop.from === hop.link.source : hop.meets,
      })
  }
  level.bundles = [...byKey.values()]
  const counts = new Map<number, number>()
  for (const { pair } of level.bundles) counts.set(pair, (counts.get(pair) ?? 0) + 1)
  for (const bundle of level.bundles) bundle.parallel = counts.get(bundle.pair)! > 1
  labelBranches(level.bundles)
  if (level.bundles.length > MOST_LABELLED) for (const bundle of level.bundles) bundle.labelled = false
  for (const bundle of level.bundles) {
    if (!bundle.labelled) continue
    const { forward, gradient, badge } = bundle.hops[0]!.link
    const widest = Math.max(forward[0]?.w ?? 0, gradient[0]?.w ?? 0)
    bundle.reserve = Math.max(widest > 0 ? 2 * (widest + 15) : 0, badge ? 2 * (badge.w / 2 + (badge.text[0] ?? 0)) : 0)
  }
}

/** The node of a level that an end names: itself, or the open group whose port it is. */
export function nodeOf(key: string, level: Level): string {
  if (level.at.has(key)) return key
  const port = key.lastIndexOf(' in ') >= 0 ? key.indexOf(' in ') : key.indexOf(' out ')
  return port >= 0 ? key.slice(0, port) : key
}

/** Branches of one port differ in their gradients, so each says its own. */
function labelBranches(bundles: readonly Bundle[]): void {
  const fans = new Map<string, Bundle[]>()
  for (const bundle of bundles) if (bundle.from.startsWith('in ')) push(fans, bundle.from, bundle)
  for (const fan of fans.values())
    if (fan.length > 1) for (const bundle of fan) bundle.labelled = !bundle.hops[0]!.link.bundled
}
