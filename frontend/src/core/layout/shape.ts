// The shape of a level: its nodes on ranks by dagre, then as far apart as the wires between them need.

import { Graph, layout as dagre } from '@dagrejs/dagre'
import { push } from '../trace/trace-index'
import { isBackToFront, merged, Spacing, type Band } from './bands'
import { HEADER } from './extent'
import type { Knot } from './geometry'
import { nodeOf, type Bundle, type Level, type Shape } from './level'
import { narrowed, type Upright } from './narrow'
import { round } from './round'
import { partsOf, shelve } from './shelves'
import { inOrder, lanesOf, passing } from './turns'

const PAD_X = 20
const PAD_BOTTOM = 14
/** A group is made as wide as its title needs between two lanes, up to this. */
const MOST_TITLE = 220
const TITLE_PAD = 28
export const NODE_SEP = 28
/** Between ranks whose wires say nothing. */
const LEAST_GAP = 28
const LABEL_LINE = 14
/** Half of what a wire beside boxes takes. */
const LANES = 8

/** Levels already laid out, by structure: identical layers are laid out once. */
const known = new Map<string, Shape>()
const MOST_KNOWN = 2000

type Centre = Readonly<{ x: number; y: number }>

interface Pair {
  from: number
  to: number
  reserve: number
  /** Of its label at the left. */
  shape: number
}

/** `gap`: between ranks whose wires say something; `isGroup`: whether a node is a group. */
export function shapeOf(level: Level, gap: number, beside: number, isGroup: (key: string) => boolean): Shape {
  const key = `${structure(level, gap, isGroup)} ${beside}`
  const cached = known.get(key)
  if (cached) return cached
  if (known.size >= MOST_KNOWN) known.clear()
  const shape = new Shaper(level, gap, beside, isGroup).shape()
  known.set(key, shape)
  return shape
}

function structure(level: Level, gap: number, isGroup: (key: string) => boolean): string {
  const nodes = level.nodes
    .map((node) => `${isGroup(node.key) ? 'g' : node.role[0]}${node.size.w},${node.size.h},${node.tail},${node.side}`)
    .join(' ')
  const edges = level.bundles
    .map((bundle) => {
      const [from, to] = [bundle.from, bundle.to].map((key) => level.at.get(nodeOf(key, level)))
      return `${from}-${to}:${bundle.reserve},${bundle.hops[0]!.link.forward[0]?.w ?? 0}`
    })
    .join(' ')
  return `${level.id === '' ? 'top' : `${level.header} ${level.title}`} ${gap}|${nodes}|${edges}`
}

class Shaper {
  constructor(
    private readonly level: Level,
    private readonly gap: number,
    private readonly beside: number,
    private readonly isGroup: (key: string) => boolean,
  ) {}

  /** Whether boxes are as near to each other as they can be. */
  private get isNear(): boolean {
    return this.gap < LEAST_GAP
  }

  shape(): Shape {
    const { level } = this
    const graph = new Graph({ multigraph: false, compound: false })
    graph.setGraph({ rankdir: 'TB', ranksep: LEAST_GAP, nodesep: NODE_SEP, edgesep: 24, marginx: 0, marginy: 0 })
    level.nodes.forEach((node, at) => graph.setNode(String(at), { width: node.size.w, height: node.size.h }))
    const pairs: (Pair & { count: number })[] = []
    for (const bundle of level.bundles) {
      const from = level.at.get(nodeOf(bundle.from, level))!
      const to = level.at.get(nodeOf(bundle.to, level))!
      const pair = (pairs[bundle.pair] ??= { from, to, reserve: 0, shape: 0, count: 0 })
      pair.reserve = Math.max(pair.reserve, bundle.reserve)
      if (bundle.labelled) pair.shape = Math.max(pair.shape, bundle.hops[0]!.link.forward[0]?.w ?? 0)
      pair.count += 1
    }
    const passed = passing(level, pairs)
    for (const { from, to, reserve, count } of thinned(pairs.filter((_, at) => !passed.has(at)), level)) {
      const width = (this.isNear ? 0 : reserve) + (count > 1 ? 152 : 0)
      graph.setEdge(String(from), String(to), { weight: 1, minlen: 1, width, height: 0, labelpos: 'c' })
    }
    this.stack(graph, pairs)
    this.holdPins(graph, level, 'in')
    this.holdPins(graph, level, 'out')
    dagre(graph)
    const shape = this.read(graph, level, pairs, passed)
    return level.id === '' ? this.shelved(level, shape, pairs) : shape
  }

  /** Parts that nothing joins stand on lines under each other where one row of them would be too long, single boxes
   *  under the rest. */
  private shelved(level: Level, shape: Shape, pairs: readonly Pair[]): Shape {
    const partOf = partsOf(level.nodes.length, pairs)
    const extents: { left: number; right: number; top: number; bottom: number }[] = []
    const cover = (part: number, left: number, right: number, top: number, bottom: number) => {
      const extent = (extents[part] ??= { left, right, top, bottom })
      Object.assign(extent, {
        left: Math.min(extent.left, left), right: Math.max(extent.right, right), top: Math.min(extent.top, top),
        bottom: Math.max(extent.bottom, bottom),
      })
    }
    level.nodes.forEach(({ size }, at) => {
      const [x, y] = shape.nodes[at]!
      cover(partOf[at]!, x - size.w / 2, x + size.w / 2, y, y + size.h)
    })
    pairs.forEach(({ from, to, reserve }, at) => {
      const points = shape.pairs[at]!.length > 0
        ? shape.pairs[at]!
        : [[(shape.nodes[from]![0] + shape.nodes[to]![0]) / 2, shape.nodes[to]![1]] as const]
      for (const [x, y] of points) cover(partOf[from]!, x - reserve / 2, x + reserve / 2, y, y)
    })
    const sizes = extents.map(() => 0)
    for (const part of partOf) sizes[part]! += 1
    const loose = new Set(
      level.nodes.flatMap(({ key, tail }, at) =>
        sizes[partOf[at]!] === 1 && !this.isGroup(key) && tail === 0 ? [partOf[at]!] : [],
      ),
    )
    const moves = shelve(
      extents.map(({ left, right, top, bottom }) => ({ x: left, y: top, w: right - left, h: bottom - top })), loose,
    )
    if (!moves) return shape
    const move = ([x, y]: Knot, part: number): Knot => [round(x + moves[part]!.dx), round(y + moves[part]!.dy)]
    const ends = extents.map(
      (extent, part) => [extent.right + moves[part]!.dx, extent.bottom + moves[part]!.dy] as const,
    )
    return {
      ...shape,
      w: Math.round(Math.max(...ends.map(([x]) => x))),
      h: round(Math.max(...ends.map(([, y]) => y))),
      nodes: shape.nodes.map((knot, at) => move(knot, partOf[at]!)),
      pairs: shape.pairs.map((points, at) => points.map((knot) => move(knot, partOf[pairs[at]!.from]!))),
    }
  }

  /** Collectives above the lanes stand under each other: side by side they would push the lanes apart. */
  private stack(graph: Graph, pairs: readonly Pair[]): void {
    const fed = new Set(pairs.map(({ to }) => to))
    const above = this.level.nodes.flatMap((node, at) => (node.across && !fed.has(at) ? [at] : []))
    above.slice(1).forEach((under, at) => graph.setEdge(
      String(above[at]), String(under), { weight: 0, minlen: 1, width: 0, height: 0, labelpos: 'c' },
    ))
  }

  /** Keeps all in-ports on the first rank and all out-ports on the last. */
  private holdPins(graph: Graph, level: Level, role: 'in' | 'out'): void {
    const pins = level.nodes.flatMap((node, at) => (node.role === role ? [at] : []))
    if (pins.length < 2) return
    graph.setNode(role, { width: 1, height: 1 })
    for (const pin of pins) {
      const [from, to] = role === 'in' ? [role, String(pin)] : [String(pin), role]
      graph.setEdge(from, to, { weight: 50, minlen: 1, width: 0, height: 0, labelpos: 'c' })
    }
  }

  private read(graph: Graph, level: Level, pairs: readonly Pair[], passed: ReadonlySet<number>): Shape {
    const ranked = abreast(level, pairs, level.nodes.map((_, at) => graph.node(String(at)) as Centre))
    const apart = gathered(level, pairs, ranked)
    const stood = inOrder(level, passed, apart)
    const dagres = pairs.map(({ from, to }) => {
      const edge = graph.edge(String(from), String(to)) as { points: Centre[] } | undefined
      return apart[from] === ranked[from] ? (edge?.points ?? []).slice(1, -1) : []
    })
    const sign = isBackToFront(level, stood) ? -1 : 1
    const mirrored = ({ x, y }: Centre): Centre => ({ x: sign * x, y })
    const wide = stood.map(mirrored)
    const along = lanesOf(level, pairs, passed, stood, dagres).map((points) => points.map(mirrored))
    const [centres, rawPairs] = this.isNear && level.id === '' ? this.narrowed(wide, along, pairs) : [wide, along]
    const bands = merged(
      level.nodes.flatMap((node, at) =>
        node.role === 'item'
          ? [{ top: centres[at]!.y - node.size.h / 2, bottom: centres[at]!.y + node.size.h / 2 }]
          : [],
      ),
    )
    const spacing = new Spacing(bands, this.gaps(level, bands, centres))
    // Labels of a long wire stand beside it, inside the group.
    const rooms = pairs.map(({ reserve, shape }, at): readonly [number, number] => {
      if (passed.has(at)) return [shape, reserve / 2]
      return !this.isNear && rawPairs[at]!.length > 2 ? [reserve / 2, reserve / 2] : [0, 0]
    })
    const xs = [
      ...level.nodes.flatMap(({ size }, at) => [centres[at]!.x - size.w / 2, centres[at]!.x + size.w / 2]),
      ...rawPairs.flatMap((points, at) => {
        const [before, behind] = rooms[at]!
        return points.flatMap(({ x }) => [x - before, x + behind])
      }),
    ]
    const [left, right] = [Math.min(...xs), Math.max(...xs)]
    const isTop = level.id === ''
    const top = isTop ? 0 : HEADER
    const padX = isTop ? 0 : PAD_X
    const narrow = Math.max(right - left + 2 * padX, isTop ? 0 : level.header + 2 * PAD_X)
    const middle = (narrow - right - left) / 2
    // The lanes that enter through the top part the room of the title.
    const pins = level.nodes.flatMap(({ role }, at) => (role === 'in' ? [centres[at]!.x + middle] : []))
    const ends = [0, ...pins.sort((a, b) => a - b), narrow]
    const most = Math.max(...ends.slice(1).map((end, at) => end - ends[at]!))
    const lack = isTop || pins.length === 0 ? 0 : Math.max(0, Math.min(level.title, MOST_TITLE) + TITLE_PAD - most)
    const [first, last] = [ends[1]!, narrow - ends.at(-2)!]
    const more = lack > 0 ? 4 * Math.ceil((lack + most - Math.max(first, last)) / 4) : 0
    const [titled, shift] = [narrow + more, middle + (first > last ? more : 0)]
    const h = isTop ? spacing.height : HEADER + spacing.height + PAD_BOTTOM
    const nodes = level.nodes.map((node, at): Knot => {
      const x = round(centres[at]!.x + shift)
      if (node.role !== 'item') return [x, node.role === 'in' ? 0 : round(h)]
      return [x, round(top + spacing.at(centres[at]!.y - node.size.h / 2))]
    })
    const reaches = level.nodes.map((node, at) => {
      const band = bands.find(({ top: above, bottom }) => centres[at]!.y >= above && centres[at]!.y <= bottom)
      if (node.role === 'item' || !band) return node.role === 'out' ? round(h) : HEADER - 4
      return round(top + spacing.at(node.role === 'in' ? band.bottom : band.top))
    })
    return {
      w: Math.round(titled), // half of it is a place of a lane, too
      h: round(h),
      nodes,
      reaches,
      pairs: rawPairs.map((points) => points.map(({ x, y }): Knot => [round(x + shift), round(top + spacing.at(y))])),
    }
  }

  /** Nodes and wires as near to each other sideways as their order allows; constants stand only at the left. */
  private narrowed(
    centres: readonly Centre[], points: readonly Centre[][], pairs: readonly Pair[],
  ): [readonly Centre[], readonly Centre[][]] {
    const nodes = this.level.nodes.map(({ size, side, box }, at): Upright => {
      const { x, y } = centres[at]!
      const [half, reach] = [(box ?? size).w / 2, size.h / 2]
      return { x, left: half + side, right: half + Math.min(side, this.beside), top: y - reach, bottom: y + reach }
    })
    const ranks = merged(nodes.map(({ top, bottom }) => ({ top, bottom })))
    const all = [...nodes]
    const joined: [number, number][] = []
    const places = points.map((along, at) => {
      let before = pairs[at]!.from
      const kept = along.map(({ x, y }) => {
        const rank = ranks.find(({ top, bottom }) => top <= y && y <= bottom) ?? { top: y, bottom: y }
        joined.push([before, all.length])
        before = all.length
        return all.push({ x, left: LANES, right: LANES, ...rank }) - 1
      })
      joined.push([before, pairs[at]!.to])
      return kept
    })
    const xs = narrowed(all, joined)
    return [
      centres.map(({ y }, at) => ({ x: xs[at]!, y })),
      points.map((along, at) => along.map(({ y }, place) => ({ x: xs[places[at]![place]!]!, y }))),
    ]
  }

  /** Room before the first rank, between ranks, and after the last. */
  private gaps(level: Level, bands: readonly Band[], centres: readonly Centre[]): number[] {
    const gaps: number[] = bands.map((_, at) => (at === 0 ? 0 : Math.min(LEAST_GAP, this.gap)))
    gaps.push(0)
    const bandOf = (at: number) =>
      bands.findIndex((band) => centres[at]!.y >= band.top - 0.5 && centres[at]!.y <= band.bottom + 0.5)
    for (const bundle of level.bundles) {
      const from = level.at.get(nodeOf(bundle.from, level))!
      const to = level.at.get(nodeOf(bundle.to, level))!
      const leaning = Math.abs(centres[from]!.x - centres[to]!.x) > 12
      const first = level.nodes[from]!.role === 'in' && bandOf(from) < 0
      const last = level.nodes[to]!.role === 'out' && bandOf(to) < 0
      if (first) gaps[0] = Math.max(gaps[0]!, bundle.labelled ? 44 : leaning ? 26 : 6)
      else if (last) gaps[bands.length] = Math.max(gaps[bands.length]!, leaning ? 20 : 6)
      else if (bandOf(to) === bandOf(from) + 1)
        gaps[bandOf(to)] = Math.max(gaps[bandOf(to)]!, this.gapOf(bundle, leaning))
    }
    return gaps
  }

  private gapOf(bundle: Bundle, leaning: boolean): number {
    if (!bundle.labelled) return Math.min(LEAST_GAP, this.gap)
    const { forward, gradient, badge } = bundle.hops[0]!.link
    // ranks that are near keep room for one line
    const tallest = this.isNear ? LABEL_LINE : Math.max(0, forward[0]?.h ?? 0, gradient[0]?.h ?? 0)
    const bare = this.gap + Math.max(0, tallest - LABEL_LINE)
    const parallel = bundle.parallel && tallest > 2 * LABEL_LINE ? 20 : 0
    return (
      bare +
      parallel +
      (leaning ? (this.gap > LEAST_GAP ? 24 : this.isNear ? 6 : 10) : 0) +
      (badge ? badge.h + (badge.h > LABEL_LINE + 4 ? 12 : this.isNear ? 0 : tallest + LABEL_LINE) : 0)
    )
  }
}

/** More wires than this from ports into one box say no more about its place than a few of them. */
const TELLING = 6

/** The pairs worth laying out: a box fed by many ports alone stands in the first rank anyway, right below them. */
function thinned<T extends Pair>(pairs: readonly T[], level: Level): T[] {
  const into = new Map<number, T[]>()
  for (const pair of pairs) push(into, pair.to, pair)
  return [...into.values()].flatMap((feeding) => {
    const isFan = feeding.length > TELLING && feeding.every(({ from }) => level.nodes[from]!.role === 'in')
    return isFan ? [feeding[0]!, feeding[feeding.length >> 1]!, feeding.at(-1)!] : feeding
  })
}

/** What a collective joins stands in the order of the level where it stands side by side. */
function abreast(level: Level, pairs: readonly Pair[], centres: readonly Centre[]): readonly Centre[] {
  const placed = [...centres]
  for (const [across, node] of level.nodes.entries()) {
    if (!node.across) continue
    const rows = new Map<string, Set<number>>()
    for (const { from, to } of pairs) {
      if (from !== across && to !== across) continue
      const key = `${from === across} ${placed[from === across ? to : from]!.y}`
      rows.set(key, (rows.get(key) ?? new Set()).add(from === across ? to : from))
    }
    for (const row of rows.values()) setInOrder([...row], level, placed)
  }
  return placed
}

function setInOrder(row: readonly number[], level: Level, placed: Centre[]): void {
  const half = (at: number): number => level.nodes[at]!.size.w / 2
  const now = [...row].sort((a, b) => placed[a]!.x - placed[b]!.x)
  const wanted = [...row].sort((a, b) => a - b)
  const { y } = placed[row[0]!]!
  const [left, right] = [placed[now[0]!]!.x, placed[now.at(-1)!]!.x]
  const isMixed = placed.some(
    (centre, at) => !row.includes(at) && centre.y === y && centre.x > left && centre.x < right,
  )
  if (isMixed || now.every((at, place) => at === wanted[place])) return
  const gaps = now.slice(1).map((at, place) => placed[at]!.x - half(at) - (placed[now[place]!]!.x + half(now[place]!)))
  let x = left - half(now[0]!)
  wanted.forEach((at, place) => {
    placed[at] = { x: x + half(at), y }
    x += 2 * half(at) + (gaps[place] ?? 0)
  })
}

/** Many ports that all lead to one box stand over it, closer together than boxes would. */
function gathered(level: Level, pairs: readonly Pair[], centres: readonly Centre[]): readonly Centre[] {
  const isPort = (at: number) => level.nodes[at]!.role === 'in'
  const fed = new Set(pairs.flatMap(({ from, to }) => (isPort(from) ? [to] : [])))
  const ports = [...level.nodes.keys()].filter(isPort).sort((a, b) => centres[a]!.x - centres[b]!.x)
  const [only] = fed
  const box = only === undefined ? null : level.nodes[only]!.box
  if (ports.length <= TELLING || fed.size > 1 || !box) return centres
  const step = Math.min(NODE_SEP, (box.w - NODE_SEP) / (ports.length - 1))
  const left = centres[only!]!.x - (step * (ports.length - 1)) / 2
  return centres.map((centre, at) => (isPort(at) ? { x: left + step * ports.indexOf(at), y: centre.y } : centre))
}
