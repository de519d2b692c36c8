// Where everything goes: one flat dagre layout per open group with ports on its border, then routes, then labels.
// Pure and deterministic: no DOM, no trace, sizes come in with the input.

import type {
  Frame, Knot, Layout, LayoutGroup, LayoutInput, LayoutItem, LayoutLink, Placed, Size, Wire,
} from './geometry'
import { Graph, layout as dagre } from '@dagrejs/dagre'
import { extent, HEADER } from './extent'
import { placeLabels } from './labels'
import { portsAlong, type PortWish } from './ports'
import { partsOf, shelve } from './shelves'
import { push } from '../trace/trace-index'

const PAD_X = 20
const PAD_BOTTOM = 14
const NODE_SEP = 28
/** Between ranks whose wires say nothing. */
const LEAST_GAP = 28
const LABEL_LINE = 14
const PIN: Size = { w: 14, h: 2 }
/** Wires of a level with more of them than this have no labels: there would be no room. Hovering one tells. */
const MOST_LABELLED = 160

interface Hop {
  level: string
  from: string
  to: string
  link: LayoutLink
  toBox: boolean
  /** The level where both ends meet: the hop that carries the labels. */
  meets: boolean
}

interface Shape {
  w: number
  h: number
  /** Centre x and top y of each node, in the order given. */
  nodes: readonly Knot[]
  /** How far down (in-ports) or up (out-ports) a port's wire runs straight before it may bend. */
  reaches: readonly number[]
  /** Interior points of each pair. */
  pairs: readonly (readonly Knot[])[]
}

/** Levels already laid out, by structure: identical layers are laid out once. */
const known = new Map<string, Shape>()
const MOST_KNOWN = 2000
/** Width of the step numbers at the right of a box. */
const NUMBERS = 46

export function layout(input: LayoutInput): Layout {
  return new Sheet(input).result()
}

interface Level {
  id: string
  nodes: { key: string; size: Size; box: Size | null; side: number; tail: number; role: 'item' | 'in' | 'out' }[]
  at: Map<string, number>
  bundles: Bundle[]
  shape: Shape
  header: number
}

interface Bundle {
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

class Sheet {
  private readonly parents = new Map<string, string>()
  private readonly items = new Map<string, LayoutItem>()
  private readonly groups = new Map<string, LayoutGroup>()
  private readonly open: Set<string>
  private readonly levels = new Map<string, Level>()
  private readonly children = new Map<string, string[]>()
  private readonly hops = new Map<string, Hop[]>()
  private readonly placed: Placed[] = []
  private readonly frames: Frame[] = []
  private readonly wires: Wire[] = []
  private readonly dots: Knot[] = []

  constructor(private readonly input: LayoutInput) {
    this.open = new Set(input.expanded)
    for (const group of input.groups) this.groups.set(group.id, group)
    for (const item of [...input.groups, ...input.boxes]) {
      this.items.set(item.id, item)
      this.parents.set(item.id, this.groups.has(item.parent) ? item.parent : '')
    }
    this.gather()
    for (const link of input.links) this.split(link)
  }

  result(): Layout {
    this.lay('')
    this.place('', 0, 0)
    placeLabels(this.wires, this.placed, this.headers(), new Map(this.input.links.map((link) => [link.id, link])))
    return {
      boxes: this.placed,
      frames: this.frames,
      wires: this.wires,
      dots: this.dots,
      open: this.input.expanded,
      ...this.bounds(),
    }
  }

  /** Children on screen of every open level, in the order of the first box. */
  private gather(): void {
    const seen = new Set<string>()
    for (const box of this.input.boxes) {
      const chain = [box.id]
      for (let at = this.parents.get(box.id) ?? ''; at !== ''; at = this.parents.get(at) ?? '') chain.push(at)
      for (let at = chain.length - 1; at >= 0; at--) {
        const id = chain[at]!
        if (!seen.has(id)) {
          seen.add(id)
          const parent = this.parents.get(id) ?? ''
          push(this.children, parent, id)
        }
        if (at > 0 && !this.open.has(id)) break
      }
    }
  }

  private standIn(id: string): string {
    let shown = id
    for (let at = this.parents.get(id) ?? ''; at !== ''; at = this.parents.get(at) ?? '')
      if (!this.open.has(at)) shown = at
    return shown
  }

  private ancestors(id: string): string[] {
    const chain: string[] = []
    for (let at = this.parents.get(id) ?? ''; at !== ''; at = this.parents.get(at) ?? '') chain.push(at)
    return [...chain, '']
  }

  /** A link becomes one hop per level: up through out-ports to the common level, down through in-ports. */
  private split(link: LayoutLink): void {
    const source = this.standIn(link.source)
    const target = this.standIn(link.target)
    if (source === target || !this.items.has(source) || !this.items.has(target)) return
    const up = this.ancestors(source)
    const down = this.ancestors(target)
    const inside = new Set(down)
    const common = up.findIndex((id) => inside.has(id))
    const meeting = up[common]!
    let from = source
    const add = (level: string, to: string, toBox: boolean) => {
      const hop: Hop = { level, from, to, link, toBox, meets: level === meeting }
      push(this.hops, level, hop)
    }
    for (const level of up.slice(0, common)) {
      add(level, `out ${link.value}`, false)
      from = `${level} out ${link.value}`
    }
    for (const group of down.slice(0, down.indexOf(meeting)).reverse()) {
      add(this.parents.get(group) ?? '', `${group} in ${link.value}`, false)
      from = `in ${link.value}`
    }
    add(down[0]!, target, true)
  }

  private lay(id: string): Level {
    const items = this.children.get(id) ?? []
    const inner = new Map<string, Level>()
    for (const item of items) if (this.open.has(item) && this.groups.has(item)) inner.set(item, this.lay(item))
    const hops = this.hops.get(id) ?? []
    const level: Level = {
      id, nodes: [], at: new Map(), bundles: [], shape: { w: 0, h: 0, nodes: [], reaches: [], pairs: [] },
      header: this.groups.get(id)?.header ?? 0,
    }
    const add = (key: string, node: Omit<Level['nodes'][number], 'key'>) => {
      if (level.at.has(key)) return
      level.at.set(key, level.nodes.length)
      level.nodes.push({ key, ...node })
    }
    for (const hop of hops)
      if (hop.from.startsWith('in ')) add(hop.from, { size: PIN, box: null, side: 0, tail: 0, role: 'in' })
    for (const item of items) {
      const open = inner.get(item)
      const own = this.items.get(item)!
      const box = open ? { w: open.shape.w, h: open.shape.h } : { w: own.w, h: own.h }
      const side = open ? 8 : own.side
      const tail = open ? 0 : own.tail
      add(item, { size: { w: box.w + 2 * side, h: box.h + tail }, box, side, tail, role: 'item' })
    }
    for (const hop of hops)
      if (hop.to.startsWith('out ')) add(hop.to, { size: PIN, box: null, side: 0, tail: 0, role: 'out' })
    this.bundle(level, hops)
    level.shape = this.shape(level)
    this.levels.set(id, level)
    return level
  }

  /** Hops that are drawn as one wire. Each link into a visible box keeps its own. */
  private bundle(level: Level, hops: readonly Hop[]): void {
    const byKey = new Map<string, Bundle>()
    const pairs = new Map<string, number>()
    for (const hop of hops) {
      const pairKey = `${nodeOf(hop.from, level)} ${nodeOf(hop.to, level)}`
      let pair = pairs.get(pairKey)
      if (pair === undefined) pairs.set(pairKey, (pair = pairs.size))
      const key = hop.toBox && !this.groups.has(hop.to)
        ? `${pairKey} ${hop.from} ${hop.link.id}`
        : `${hop.from}|${hop.to}|${hop.link.value}`
      const bundle = byKey.get(key)
      if (bundle) bundle.hops.push(hop)
      else
        byKey.set(key, {
          from: hop.from, to: hop.to, hops: [hop], pair, labelled: hop.meets, parallel: false, reserve: 0,
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
      bundle.reserve = Math.max(widest > 0 ? 2 * (widest + 15) : 0, badge ? 2 * (badge.w / 2 + badge.text) : 0)
    }
  }

  private shape(level: Level): Shape {
    const key = this.structure(level)
    const cached = known.get(key)
    if (cached) return cached
    if (known.size >= MOST_KNOWN) known.clear()
    const shape = this.compute(level)
    known.set(key, shape)
    return shape
  }

  private structure(level: Level): string {
    const nodes = level.nodes
      .map((node) => `${this.groups.has(node.key) ? 'g' : node.role[0]}${node.size.w},${node.size.h},${node.tail}`)
      .join(' ')
    const edges = level.bundles
      .map(
        (bundle) =>
          `${level.at.get(nodeOf(bundle.from, level))}-${level.at.get(nodeOf(bundle.to, level))}:${bundle.reserve}`,
      )
      .join(' ')
    return `${level.id === '' ? 'top' : level.header} ${this.input.gap}|${nodes}|${edges}`
  }

  private compute(level: Level): Shape {
    const graph = new Graph({ multigraph: false, compound: false })
    graph.setGraph({ rankdir: 'TB', ranksep: LEAST_GAP, nodesep: NODE_SEP, edgesep: 24, marginx: 0, marginy: 0 })
    level.nodes.forEach((node, at) => graph.setNode(String(at), { width: node.size.w, height: node.size.h }))
    const pairs: { from: number; to: number; reserve: number; count: number }[] = []
    for (const bundle of level.bundles) {
      const from = level.at.get(nodeOf(bundle.from, level))!
      const to = level.at.get(nodeOf(bundle.to, level))!
      const pair = (pairs[bundle.pair] ??= { from, to, reserve: 0, count: 0 })
      pair.reserve = Math.max(pair.reserve, bundle.reserve)
      pair.count += 1
    }
    for (const { from, to, reserve, count } of thinned(pairs, level)) {
      const width = reserve + (count > 1 ? 152 : 0)
      graph.setEdge(String(from), String(to), { weight: 1, minlen: 1, width, height: 0, labelpos: 'c' })
    }
    this.holdPins(graph, level, 'in')
    this.holdPins(graph, level, 'out')
    dagre(graph)
    const shape = this.read(graph, level, pairs)
    return level.id === '' ? this.shelved(level, shape, pairs) : shape
  }

  /** Parts that nothing joins stand on lines under each other where one row of them would be too long, single boxes
   *  under the rest. */
  private shelved(level: Level, shape: Shape, pairs: readonly { from: number; to: number; reserve: number }[]): Shape {
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
        sizes[partOf[at]!] === 1 && !this.groups.has(key) && tail === 0 ? [partOf[at]!] : [],
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
      w: round(Math.max(...ends.map(([x]) => x))),
      h: round(Math.max(...ends.map(([, y]) => y))),
      nodes: shape.nodes.map((knot, at) => move(knot, partOf[at]!)),
      pairs: shape.pairs.map((points, at) => points.map((knot) => move(knot, partOf[pairs[at]!.from]!))),
    }
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

  private read(graph: Graph, level: Level, pairs: readonly { from: number; to: number; reserve: number }[]): Shape {
    const centres = level.nodes.map((_, at) => graph.node(String(at)) as { x: number; y: number })
    const rawPairs = pairs.map(({ from, to }) =>
      (
        (graph.edge(String(from), String(to)) as { points: { x: number; y: number }[] } | undefined)?.points ?? []
      ).slice(1, -1),
    )
    const bands = merged(
      level.nodes.flatMap((node, at) =>
        node.role === 'item'
          ? [{ top: centres[at]!.y - node.size.h / 2, bottom: centres[at]!.y + node.size.h / 2 }]
          : [],
      ),
    )
    const spacing = new Spacing(bands, this.gaps(level, bands, centres))
    // Labels of a long wire stand beside it, inside the group.
    const rooms = pairs.map(({ reserve }, at) => (rawPairs[at]!.length > 2 ? reserve / 2 : 0))
    const sign = isBackToFront(level, centres) ? -1 : 1
    const xs = [
      ...level.nodes.flatMap((node, at) => [
        sign * centres[at]!.x - node.size.w / 2, sign * centres[at]!.x + node.size.w / 2,
      ]),
      ...rawPairs.flatMap((points, at) => points.flatMap(({ x }) => [sign * x - rooms[at]!, sign * x + rooms[at]!])),
    ]
    const [left, right] = [Math.min(...xs), Math.max(...xs)]
    const isTop = level.id === ''
    const top = isTop ? 0 : HEADER
    const padX = isTop ? 0 : PAD_X
    const wide = Math.max(right - left + 2 * padX, isTop ? 0 : level.header + 2 * PAD_X)
    const shift = (wide - right - left) / 2
    const h = isTop ? spacing.height : HEADER + spacing.height + PAD_BOTTOM
    const nodes = level.nodes.map((node, at): Knot => {
      const x = round(sign * centres[at]!.x + shift)
      if (node.role !== 'item') return [x, node.role === 'in' ? 0 : round(h)]
      return [x, round(top + spacing.at(centres[at]!.y - node.size.h / 2))]
    })
    const reaches = level.nodes.map((node, at) => {
      const band = bands.find(({ top: above, bottom }) => centres[at]!.y >= above && centres[at]!.y <= bottom)
      if (node.role === 'item' || !band) return node.role === 'out' ? round(h) : HEADER - 4
      return round(top + spacing.at(node.role === 'in' ? band.bottom : band.top))
    })
    return {
      w: round(wide),
      h: round(h),
      nodes,
      reaches,
      pairs: rawPairs.map((points) =>
        points.map(({ x, y }): Knot => [round(sign * x + shift), round(top + spacing.at(y))]),
      ),
    }
  }

  /** Room before the first rank, between ranks, and after the last. */
  private gaps(level: Level, bands: readonly Band[], centres: readonly { x: number; y: number }[]): number[] {
    const gaps: number[] = bands.map((_, at) => (at === 0 ? 0 : LEAST_GAP))
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
    if (!bundle.labelled) return LEAST_GAP
    const { forward, gradient, badge } = bundle.hops[0]!.link
    const tallest = Math.max(0, forward[0]?.h ?? 0, gradient[0]?.h ?? 0)
    const bare = this.input.gap + Math.max(0, tallest - LABEL_LINE)
    const parallel = bundle.parallel && tallest > 2 * LABEL_LINE ? 20 : 0
    return (
      bare +
      parallel +
      (leaning ? (this.input.gap > LEAST_GAP ? 24 : 10) : 0) +
      (badge ? badge.h + (badge.h > LABEL_LINE + 4 ? 12 : tallest + LABEL_LINE) : 0)
    )
  }

  private place(id: string, x: number, y: number): void {
    const level = this.levels.get(id)!
    level.nodes.forEach((node, at) => {
      const [cx, top] = level.shape.nodes[at]!
      if (node.role !== 'item') return
      const box: Placed = {
        id: node.key, x: round(x + cx - node.box!.w / 2), y: round(y + top), w: node.box!.w, h: node.box!.h,
      }
      if (this.open.has(node.key) && this.groups.has(node.key)) {
        this.frames.push({ ...box, ...this.title(node.key, box.x) })
        this.place(node.key, box.x, box.y)
      } else this.placed.push(box)
    })
    this.route(level, x, y)
  }

  /** The header takes the first stretch between the lanes under it that holds it, else the longest. */
  private title(id: string, x: number): { title_x: number; title_w: number } {
    const { shape, nodes, header } = this.levels.get(id)!
    const pins = nodes.flatMap((node, at) => (node.role === 'in' ? [shape.nodes[at]![0]] : [])).sort((a, b) => a - b)
    const edges = [-4, ...pins, shape.w + 4]
    const stretches = edges
      .slice(1)
      .map((end, at) => ({ title_x: x + edges[at]! + 14, title_w: end - edges[at]! - 28 }))
    return (
      stretches.find((stretch) => stretch.title_w >= header) ??
      stretches.reduce((best, stretch) => (stretch.title_w > best.title_w ? stretch : best))
    )
  }

  private route(level: Level, x: number, y: number): void {
    const bands = bandsOf(level)
    const ends = level.bundles.map((bundle) => ({
      bundle, from: this.end(level, bundle.from, x, y, 'bottom'), to: this.end(level, bundle.to, x, y, 'top'),
    }))
    const inner = ends.map(({ bundle, from, to }) => {
      const points = level.shape.pairs[bundle.pair]!
      const crossed = bands.filter((band) => y + band.top > from.y + 1 && y + band.bottom < to.y - 1)
      return crossed.flatMap((band): Knot[] => {
        const point = points.find(([, py]) => py >= band.top - 1 && py <= band.bottom + 1)
        return point ? [[x + point[0], y + band.top], [x + point[0], y + band.bottom]] : []
      })
    })
    this.spread(
      ends.map((end) => end.from), ends.map((end, at) => inner[at]![0]?.[0] ?? end.to.centre),
      ends.map((end) => end.bundle),
    )
    this.spread(
      ends.map((end) => end.to), ends.map((end, at) => inner[at]!.at(-1)?.[0] ?? end.from.x),
      ends.map((end) => end.bundle),
    )
    const leaving = new Map<string, number>()
    ends.forEach(({ bundle, from, to }, at) => {
      const upward = to.y < from.y + 2
      const startBand = bands.find((band) => y + band.top - 1 <= from.y && from.y <= y + band.bottom + 1)
      const endBand = bands.find((band) => y + band.top - 1 <= to.y && to.y <= y + band.bottom + 1)
      const ahead: Knot[] = !from.onItem
        ? [[from.x, y + from.reach]]
        : startBand
          ? [[from.x, y + startBand.bottom]]
          : []
      const behind: Knot[] = !to.onItem ? [[to.x, y + to.reach]] : endBand ? [[to.x, y + endBand.top]] : []
      const knots = upward ? [knot(from), knot(to)] : tidy([knot(from), ...ahead, ...inner[at]!, ...behind, knot(to)])
      const links = bundle.hops.map((hop) => hop.link.id)
      this.wires.push({
        id: `${level.id}/${bundle.from}>${bundle.to}/${links[0]}`,
        links,
        source: bundle.from,
        target: bundle.to,
        knots,
        upward,
        labelled: bundle.labelled,
        starts_at_box: from.isBox,
        ends_at_box: to.isBox,
        forward: null,
        gradient: null,
        badge: null,
      })
      if (bundle.from.startsWith('in ')) leaving.set(bundle.from, (leaving.get(bundle.from) ?? 0) + 1)
    })
    for (const [pin, count] of leaving) {
      if (count < 2) continue
      const [px] = level.shape.nodes[level.at.get(pin)!]!
      const fan = ends.flatMap((end, at) =>
        end.bundle.from === pin ? [this.wires[this.wires.length - ends.length + at]!] : [],
      )
      const bend = Math.min(...fan.map((wire) => firstBend(wire.knots)))
      this.dots.push([x + px, bend])
    }
  }

  private end(level: Level, key: string, x: number, y: number, side: 'top' | 'bottom'): End {
    const node = level.nodes[level.at.get(nodeOf(key, level))!]!
    const [cx, top] = level.shape.nodes[level.at.get(node.key)!]!
    if (node.role !== 'item')
      return {
        key: node.key, x: x + cx, y: y + top, centre: x + cx, width: 0, isBox: false, onItem: false,
        reach: level.shape.reaches[level.at.get(node.key)!]!,
      }
    const inner = this.levels.get(node.key)
    const edge = y + top + (side === 'bottom' ? node.box!.h : 0)
    if (inner && this.open.has(node.key)) {
      const pin = key.slice(node.key.length + 1)
      const left = x + cx - node.box!.w / 2
      const [px] = inner.shape.nodes[inner.at.get(pin)!]!
      return { key, x: left + px, y: edge, centre: left + px, width: 0, isBox: false, onItem: true, reach: 0 }
    }
    return {
      key: node.key, x: x + cx, y: edge, centre: x + cx, width: node.box!.w, isBox: true, onItem: true, reach: 0,
    }
  }

  /** Gives the wires on one side of a box their own ports, ordered by where they come from. */
  private spread(ends: readonly End[], towards: readonly number[], bundles: readonly Bundle[]): void {
    const sides = new Map<string, PortWish[]>()
    ends.forEach((end, at) => {
      if (!end.isBox) return
      push(sides, end.key, { at, towards: towards[at]!, pair: bundles[at]!.pair })
    })
    for (const wishes of sides.values()) {
      const { centre, width } = ends[wishes[0]!.at]!
      portsAlong(wishes, centre, width).forEach((port, at) => (ends[wishes[at]!.at]!.x = round(port)))
    }
  }

  private headers(): Placed[] {
    return this.frames.map((frame) => ({
      id: frame.id, x: frame.title_x, y: frame.y + 4, w: Math.min(frame.title_w, this.groups.get(frame.id)!.header),
      h: HEADER - 8,
    }))
  }

  /** What surrounds the boxes too: stubs stand at the left, at the right only step numbers. */
  private bounds(): { x: number; y: number; width: number; height: number } {
    const all = [
      ...this.placed.map((box) => ({ ...box, side: this.items.get(box.id)!.side, tail: this.items.get(box.id)!.tail })),
      ...this.frames.map((frame) => ({ ...frame, side: 0, tail: 0 })),
    ]
    if (all.length === 0) return { x: 0, y: 0, width: 0, height: 0 }
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
    for (const box of all) {
      left = Math.min(left, box.x - box.side)
      right = Math.max(right, box.x + box.w + Math.min(box.side, NUMBERS))
      top = Math.min(top, box.y)
      bottom = Math.max(bottom, box.y + box.h + box.tail)
    }
    for (const wire of this.wires) {
      const area = extent(wire)
      left = Math.min(left, area.x)
      right = Math.max(right, area.x + area.w)
    }
    return { x: left, y: top, width: right - left, height: bottom - top }
  }
}

interface End {
  key: string
  x: number
  y: number
  centre: number
  width: number
  isBox: boolean
  /** On a box or an open group, not on a port of the level itself. */
  onItem: boolean
  reach: number
}

function knot(end: End): Knot {
  return [end.x, end.y]
}

/** The node of a level that an end names: itself, or the open group whose port it is. */
function nodeOf(key: string, level: Level): string {
  if (level.at.has(key)) return key
  const port = key.lastIndexOf(' in ') >= 0 ? key.indexOf(' in ') : key.indexOf(' out ')
  return port >= 0 ? key.slice(0, port) : key
}

/** More wires than this from ports into one box say no more about its place than a few of them. */
const TELLING = 6

/** The pairs worth laying out: a box fed by many ports alone stands in the first rank anyway, right below them. */
function thinned<T extends { from: number; to: number }>(pairs: readonly T[], level: Level): T[] {
  const into = new Map<number, T[]>()
  for (const pair of pairs) push(into, pair.to, pair)
  return [...into.values()].flatMap((feeding) => {
    const isFan = feeding.length > TELLING && feeding.every(({ from }) => level.nodes[from]!.role === 'in')
    return isFan ? [feeding[0]!, feeding[feeding.length >> 1]!, feeding.at(-1)!] : feeding
  })
}

/** Branches of one port differ in their gradients, so each says its own. */
function labelBranches(bundles: readonly Bundle[]): void {
  const fans = new Map<string, Bundle[]>()
  for (const bundle of bundles) if (bundle.from.startsWith('in ')) push(fans, bundle.from, bundle)
  for (const fan of fans.values()) if (fan.length > 1) for (const bundle of fan) bundle.labelled = true
}

interface Band {
  top: number
  bottom: number
}

/** Vertical stretches of a level that hold boxes: wires stay vertical beside them. */
function bandsOf(level: Level): Band[] {
  return merged(
    level.nodes.flatMap((node, at) => {
      const top = level.shape.nodes[at]![1]
      return node.role === 'item' ? [{ top, bottom: top + node.size.h }] : []
    }),
  )
}

function merged(spans: Band[]): Band[] {
  const bands: Band[] = []
  for (const span of spans.sort((a, b) => a.top - b.top)) {
    const last = bands[bands.length - 1]
    if (last && span.top < last.bottom - 0.5) last.bottom = Math.max(last.bottom, span.bottom)
    else bands.push({ ...span })
  }
  return bands
}

/** Whether most neighbours stand right to left; the mirror image is as good, and reads in the program's order. */
function isBackToFront(level: Level, centres: readonly { x: number; y: number }[]): boolean {
  const ranks = new Map<number, number[]>()
  level.nodes.forEach((node, at) => {
    if (node.role !== 'item') return
    const rank = Math.round(centres[at]!.y)
    push(ranks, rank, centres[at]!.x)
  })
  let balance = 0
  for (const xs of ranks.values()) for (let at = 1; at < xs.length; at++) balance += Math.sign(xs[at]! - xs[at - 1]!)
  return balance < 0
}

/** Sets the distance between ranks to what the wires between them need. */
class Spacing {
  private readonly tops: number[] = []
  readonly height: number

  constructor(
    private readonly bands: readonly Band[],
    gaps: readonly number[],
  ) {
    let y = 0
    bands.forEach((band, at) => {
      y += gaps[at]!
      this.tops.push(y)
      y += band.bottom - band.top
    })
    this.height = y + gaps[bands.length]!
  }

  /** The new place of an old y; one between two ranks lands between them. */
  at(y: number): number {
    const at = this.bands.findIndex((band) => y <= band.bottom + 0.5)
    if (at < 0) return this.height
    const band = this.bands[at]!
    if (y >= band.top - 0.5) return this.tops[at]! + y - band.top
    const above = at === 0 ? 0 : this.tops[at - 1]! + this.bands[at - 1]!.bottom - this.bands[at - 1]!.top
    return (above + this.tops[at]!) / 2
  }
}

function tidy(knots: readonly Knot[]): Knot[] {
  const kept: Knot[] = []
  for (const knot of knots) {
    const before = kept[kept.length - 1]
    if (before && knot[1] < before[1]) continue
    if (before && Math.abs(before[0] - knot[0]) < 0.01 && Math.abs(before[1] - knot[1]) < 0.01) continue
    kept.push(Math.abs((before?.[0] ?? Infinity) - knot[0]) < 2 && before ? [before[0], knot[1]] : knot)
  }
  const end = knots[knots.length - 1]!
  const last = kept[kept.length - 1]!
  if (last[0] !== end[0]) kept[kept.length - 1] = end
  return kept
}

function firstBend(knots: readonly Knot[]): number {
  for (let at = 1; at < knots.length; at++) if (knots[at]![0] !== knots[at - 1]![0]) return knots[at - 1]![1]
  return Infinity
}

function round(value: number): number {
  return Math.round(value * 2) / 2
}
