// From trace and graph to a picture: the steps in order, shared by page, embed and static SVG.

import type { Item } from './marks'
import type { Graph, Trace, Box } from '../../api/types'
import type { Shade } from './colour'
import { sheetOf, type DrawnLink, type Sheet } from '../layout/fold'
import type { Layout } from '../layout/geometry'
import { measureFor, type Measure, type Room, type Say } from './measure'
import { Story, type Moment } from './moment'
import { Painter } from './scene'
import { indexOf, TraceIndex } from '../trace/trace-index'

/** Everything about one graph that does not depend on the step. */
export class View {
  readonly sheet: Sheet
  readonly story: Story
  readonly measure: Measure
  private readonly links: ReadonlyMap<string, DrawnLink>
  private toldAt: string | null | undefined

  constructor(trace: Trace | TraceIndex, graph: Graph, words: Say, room: Room) {
    const index = trace instanceof TraceIndex ? trace : indexOf(trace)
    this.sheet = sheetOf(graph)
    this.story = new Story(index, this.sheet)
    this.measure = measureFor(this.story, this.sheet, words, room)
    this.links = new Map(this.sheet.links.map((link) => [link.id, link]))
  }

  /** Boxes of a group at any depth, in forward order. */
  inside(group: string): readonly Box[] {
    return this.story.group(group).inside
  }

  /** Where the story of this graph is: the op that raised, else what its first diagnosis is about, else the root that a
   *  pass starts from, else its end. */
  get storyBox(): string | null {
    return (this.toldAt ??= this.findStory())
  }

  private findStory(): string | null {
    const { index } = this.story
    const boxes = [...this.sheet.boxes.values()]
    const raised = index.trace.failure && boxes.findLast(({ op }) => index.op(op)?.raised)
    if (raised) return raised.id
    for (const { severity, nodes = [], tensors = [] } of index.trace.findings) {
      if (severity === 'note') continue
      const identities = new Set(tensors.map((id) => index.identity(id)))
      const concerned =
        boxes.find(({ node }) => nodes.includes(node ?? '')) ??
        boxes.find(({ tensor }) => tensor != null && identities.has(index.identity(tensor)))
      if (concerned) return concerned.id
    }
    return (boxes.findLast((box) => this.story.hasSeed(box.id)) ?? boxes.at(-1))?.id ?? null
  }

  /** Whether a box is passed over when a graph opens: it was not recorded, or its numbers cannot be read, as within
   *  `torch.func`. */
  isUnread(id: string): boolean {
    const box = this.sheet.boxes.get(id)
    return box?.kind === 'ghost' || this.story.index.tensor(box?.tensor)?.contents === 'unreadable'
  }

  link(id: string): DrawnLink | undefined {
    return this.links.get(id)
  }

  at(step: number): Moment {
    return this.story.at(step)
  }

  painter(shade: Shade): Painter {
    return new Painter(this.measure, shade)
  }
}

/** Draws what a filter lets through: frames, then wires, then boxes. */
export function drawAll(
  view: View, layout: Layout, moment: Moment, painter: Painter, shows: (id: string) => boolean = () => true,
): Item[] {
  const items: Item[] = []
  for (const frame of layout.frames)
    if (shows(frame.id)) items.push(painter.frame(frame, view.sheet.groups.get(frame.id)!))
  const wires = layout.wires.filter(({ id }) => shows(id)).map((wire) =>
    painter.wire(wire, wire.links.map((id) => view.link(id)!), moment))
  items.push(...wires, ...wires.flatMap(({ over }) => over ?? []))
  for (const place of layout.boxes) {
    if (!shows(place.id)) continue
    const box = view.sheet.boxes.get(place.id)
    items.push(
      box
        ? painter.box(place, box, moment)
        : painter.group(place, view.sheet.groups.get(place.id)!, moment),
    )
  }
  return items
}
