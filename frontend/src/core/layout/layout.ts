// Where everything goes: one flat dagre layout per open group with ports on its border, then routes, then labels.
// Pure and deterministic: no DOM, no trace, sizes come in with the input.

import { extent, HEADER } from './extent'
import type {
  Frame, Knot, Layout, LayoutGroup, LayoutInput, LayoutItem, LayoutLink, Placed, Rect, Size, Wire,
} from './geometry'
import { placeLabels } from './labels'
import { bundle, nodeOf, type Hop, type Level } from './level'
import { round } from './round'
import { NODE_SEP, shapeOf } from './shape'
import { Wiring } from './wiring'
import { push } from '../trace/trace-index'

const PIN: Size = { w: 14, h: 2 }
/** How high a step number reaches beside a box, and what is too narrow for one. */
const NUMBER = 18
const LEAST_NUMBER = 12

export function layout(input: LayoutInput): Layout {
  return new Sheet(input).result()
}

/** Makes collectives as wide as all that stands above them, or below. */
function stretch(level: Level, hops: readonly Hop[]): void {
  for (const node of level.nodes) {
    if (!node.across) continue
    const [above, below] = [new Set<string>(), new Set<string>()]
    for (const { from, to } of hops) {
      if (to === node.key) above.add(nodeOf(from, level))
      if (from === node.key) below.add(nodeOf(to, level))
    }
    const wide = [above, below].map((keys) =>
      [...keys].reduce((sum, key) => sum + (level.nodes[level.at.get(key)!]?.size.w ?? 0) + NODE_SEP, -NODE_SEP),
    )
    node.box = { ...node.box!, w: Math.max(node.box!.w, ...wide) }
    node.size = { ...node.size, w: node.box.w + 2 * node.side }
  }
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
    const boxes = [...this.placed, ...this.stubs(), ...this.numbers()]
    placeLabels(this.wires, boxes, this.headers(), new Map(this.input.links.map((link) => [link.id, link])))
    return {
      boxes: this.placed,
      frames: this.frames,
      wires: this.wires,
      dots: this.dots,
      open: this.input.expanded,
      ...this.bounds(),
    }
  }

  private stubs(): Rect[] {
    return this.placed.flatMap(({ id, x, y }) => {
      const stubs = this.items.get(id)?.stubs
      return stubs ? [{ ...stubs, x: x + stubs.x, y: y + stubs.y }] : []
    })
  }

  /** The step numbers at both sides of a box's head. */
  private numbers(): Rect[] {
    const { beside } = this.input
    const boxes = beside > LEAST_NUMBER ? this.placed.filter(({ id }) => !this.groups.has(id)) : []
    return boxes.flatMap(({ x, y, w }) => [x - beside, x + w].map((x) => ({ x, y, w: beside, h: NUMBER })))
  }

  /** Children of every open level, in the order of the first box. */
  private gather(): void {
    const seen = new Set<string>()
    for (const box of this.input.boxes) {
      for (const id of [...this.ancestors(box.id).slice(0, -1).reverse(), box.id]) {
        if (seen.has(id)) continue
        seen.add(id)
        push(this.children, this.parents.get(id) ?? '', id)
      }
    }
  }

  private ancestors(id: string): string[] {
    const chain: string[] = []
    for (let at = this.parents.get(id) ?? ''; at !== ''; at = this.parents.get(at) ?? '') chain.push(at)
    return [...chain, '']
  }

  /** A link becomes one hop per level: up through out-ports to the common level, down through in-ports. */
  private split(link: LayoutLink): void {
    const { source, target } = link
    if (!this.items.has(source) || !this.items.has(target)) return
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
      title: this.groups.get(id)?.title ?? 0,
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
      add(item, {
        size: { w: box.w + 2 * side, h: box.h + tail }, box, side, tail, role: 'item', across: own.across ?? false,
      })
    }
    stretch(level, hops)
    for (const hop of hops)
      if (hop.to.startsWith('out ')) add(hop.to, { size: PIN, box: null, side: 0, tail: 0, role: 'out' })
    bundle(level, hops, this.groups)
    level.shape = shapeOf(level, this.input.gap, this.input.beside, (key) => this.groups.has(key))
    this.levels.set(id, level)
    return level
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
    const { wires, dots } = new Wiring(level, x, y, (key) => (this.open.has(key) ? this.levels.get(key) : undefined))
    this.wires.push(...wires)
    this.dots.push(...dots)
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

  private headers(): Placed[] {
    return this.frames.map((frame) => ({
      id: frame.id, x: frame.title_x, y: frame.y + 4, w: Math.min(frame.title_w, this.groups.get(frame.id)!.header),
      h: HEADER - 8,
    }))
  }

  /** What surrounds the boxes too: stubs stand at the left, at the right only
   *  what the input says. */
  private bounds(): { x: number; y: number; width: number; height: number } {
    const all = [
      ...this.placed.map((box) => ({ ...box, side: this.items.get(box.id)!.side, tail: this.items.get(box.id)!.tail })),
      ...this.frames.map((frame) => ({ ...frame, side: 0, tail: 0 })),
    ]
    if (all.length === 0) return { x: 0, y: 0, width: 0, height: 0 }
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
    for (const box of all) {
      left = Math.min(left, box.x - box.side)
      right = Math.max(right, box.x + box.w + Math.min(box.side, this.input.beside))
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
