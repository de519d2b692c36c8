import type { Rect, Layout, LayoutGroup, LayoutInput, LayoutItem, Placed, Wire } from './geometry'
import { describe, expect, test } from 'vitest'
import { load, NAMES } from '../fixtures/load'
import { badgeRects } from './extent'
import { sheetOf, standIn } from './fold'
import { placeLabels } from './labels'
import { layout } from './layout'
import { EMBED } from '../paint/measure'
import { openingChoice } from './opening'
import { PAGE, TIGHTER } from '../paint/annotations'
import { cover } from './route'
import { layoutInput } from '../paint/sizes'
import { View } from '../paint/view'
import { WirePainter } from '../paint/wires'
import { words } from '../words/bundled'

function viewOf(name: (typeof NAMES)[number], room = PAGE): View {
  const { trace, graph } = load(name)
  return new View(trace, graph, words('zh'), room)
}

function everything(view: View): Set<string> {
  return new Set(view.sheet.groups.keys())
}

const CASES = NAMES.flatMap((name) => {
  const view = viewOf(name)
  return [
    { name: `${name}, as it opens`, input: layoutInput(view.measure, null) },
    { name: `${name}, all open`, input: layoutInput(view.measure, everything(view)) },
    { name: `${name}, all folded`, input: layoutInput(view.measure, new Set()) },
    { name: `${name}, in a small window`, input: layoutInput(viewOf(name, TIGHTER.at(-1)).measure, null) },
    {
      name: `${name}, in an embed`,
      input: layoutInput(new View(view.story.index, view.sheet.graph, words('en'), EMBED).measure, null),
    },
  ]
})

/** A graph of nested groups, some of them folded, drawn from a seed: residual lanes, parallel edges, shared sources. */
function random(seed: number): LayoutInput {
  let state = seed
  const next = (below: number) => (state = (state * 1103515245 + 12345) % 2147483648) % below
  const groups: LayoutGroup[] = []
  const open: LayoutGroup[] = []
  const parent = () => (open.length > 0 && next(3) ? open[next(open.length)]!.id : '')
  for (let count = 1 + next(6); groups.length < count; ) {
    const id = `g${groups.length}`
    const group = { id, parent: parent(), w: 160, h: 59, side: 8, tail: 6, header: 120, title: 90 }
    groups.push(group)
    if (next(4)) open.push(group)
  }
  const taken = new Set<LayoutGroup>()
  const boxes = Array.from({ length: 6 + next(24) }, (_, at): LayoutItem => {
    const folded = next(5) ? undefined : groups.find((group) => !open.includes(group) && !taken.has(group))
    if (folded) taken.add(folded)
    const side = 6 + next(60)
    return folded ?? {
      id: `n${at}`, parent: parent(), w: 140 + 4 * next(40), h: 53 + next(40), side,
      tail: next(8) ? 0 : 30, stubs: { x: -side, y: 23, w: side, h: 24 },
    }
  })
  const label = () => [{ w: 20 + next(60), h: 14 + 13 * next(2) }]
  const links = Array.from({ length: boxes.length + next(20) }, (_, at) => {
    const target = 1 + next(boxes.length - 1)
    const source = boxes[next(target)]!.id
    return {
      id: `e${at}`, source, target: boxes[target]!.id, value: source, forward: label(), gradient: label(), badge: null,
    }
  })
  return {
    boxes, groups, links, expanded: open.map((group) => group.id), gap: next(2) ? 28 : 36, beside: 46,
  }
}

const RANDOM = Array.from({ length: 40 }, (_, seed) => ({ name: `random ${seed}`, input: random(seed * 7919 + 1) }))

function overlap(a: Rect, b: Rect): boolean {
  return a.x < b.x + b.w - 0.1 && b.x < a.x + a.w - 0.1 && a.y < b.y + b.h - 0.1 && b.y < a.y + a.h - 0.1
}

function inside(frame: Rect, box: Rect): boolean {
  return (
    box.x >= frame.x && box.y >= frame.y && box.x + box.w <= frame.x + frame.w && box.y + box.h <= frame.y + frame.h
  )
}

function overlapping(layout: Layout): string[] {
  const found: string[] = []
  layout.boxes.forEach((a, at) => {
    for (const b of layout.boxes.slice(at + 1)) if (overlap(a, b)) found.push(`${a.id} ${b.id}`)
  })
  return found
}

describe.each([...CASES, ...RANDOM])('$name', ({ input }) => {
  const placed = layout(input)
  const boxes = new Map(placed.boxes.map((box) => [box.id, box]))

  test('boxes do not overlap', () => {
    expect(overlapping(placed)).toEqual([])
  })

  test('frames hold their members and nothing else', () => {
    const parents = new Map([...input.groups, ...input.boxes].map((item) => [item.id, item.parent]))
    const isIn = (id: string, group: string) => {
      for (let at = parents.get(id) ?? ''; at !== ''; at = parents.get(at) ?? '') if (at === group) return true
      return false
    }
    for (const frame of placed.frames) {
      for (const box of placed.boxes) {
        if (isIn(box.id, frame.id)) expect(inside(frame, box), `${box.id} in ${frame.id}`).toBe(true)
        else expect(overlap(frame, box), `${box.id} out of ${frame.id}`).toBe(false)
      }
    }
  })

  test('wires start at the bottom of a box or port and end at the top of one', () => {
    for (const wire of placed.wires) {
      const [first, last] = [wire.knots[0]!, wire.knots.at(-1)!]
      if (wire.starts_at_box) expectOnEdge(first, boxes.get(wire.source)!, 'bottom')
      if (wire.ends_at_box) expectOnEdge(last, boxes.get(wire.target)!, 'top')
      if (!wire.upward)
        for (let at = 1; at < wire.knots.length; at++)
          expect(wire.knots[at]![1]).toBeGreaterThanOrEqual(wire.knots[at - 1]![1])
    }
  })

  test('every link is drawn from its box to its box without a gap', () => {
    for (const link of input.links) {
      const parts = placed.wires.filter((wire) => wire.links.includes(link.id))
      const ends = parts
        .flatMap((wire) => [
          wire.starts_at_box ? `from ${wire.source}` : '', wire.ends_at_box ? `to ${wire.target}` : '',
        ])
        .filter(Boolean)
      expect(ends.sort()).toEqual([`from ${link.source}`, `to ${link.target}`])
      const tops = new Set(parts.filter((wire) => !wire.starts_at_box).map((wire) => wire.knots[0]!.join()))
      const bottoms = new Set(parts.filter((wire) => !wire.ends_at_box).map((wire) => wire.knots.at(-1)!.join()))
      expect(tops).toEqual(bottoms)
    }
  })

  test('lanes cross no box', () => {
    for (const wire of placed.wires) {
      if (wire.upward) continue
      for (const rect of cover(wire.knots)) {
        for (const box of placed.boxes)
          if (box.id !== wire.source && box.id !== wire.target)
            expect(overlap(rect, box), `${wire.id} over ${box.id}`).toBe(false)
      }
    }
  })

  test('labels cover no box, no stub, no step number, no lane and no other label', () => {
    const labels = placed.wires
      .flatMap((wire) => [wire.gradient, wire.forward])
      .filter((place) => place !== null && place.variant >= 0) as Rect[]
    const lanes = placed.wires.filter((wire) => !wire.upward).flatMap((wire) => cover(wire.knots))
    const stubs = input.boxes.flatMap(({ id, stubs }) => {
      const { x, y } = boxes.get(id)!
      return stubs ? [{ ...stubs, x: x + stubs.x, y: y + stubs.y }] : []
    })
    const groups = new Set(input.groups.map(({ id }) => id))
    const numbers = input.beside > 20 ? placed.boxes.filter(({ id }) => !groups.has(id)).flatMap(({ x, y, w }) =>
      [x - input.beside, x + w].map((x) => ({ x, y, w: input.beside, h: 15 }))) : []
    labels.forEach((label, at) => {
      for (const other of [...placed.boxes, ...stubs, ...numbers, ...lanes, ...labels.slice(at + 1)])
        expect(overlap(label, other), JSON.stringify([label, other])).toBe(false)
    })
  })

  test('the same input gives the same picture', () => {
    expect(layout(input)).toEqual(placed)
  })
})

function expectOnEdge([x, y]: readonly [number, number], box: Placed, side: 'top' | 'bottom'): void {
  expect(y).toBe(side === 'top' ? box.y : box.y + box.h)
  expect(x).toBeGreaterThan(box.x)
  expect(x).toBeLessThan(box.x + box.w)
}

test.each(NAMES)('what is drawn of %s is what its folded groups let through', (name) => {
  const { measure, sheet } = viewOf(name)
  for (const open of [openingChoice(sheet), new Set<string>(), everything(viewOf(name))]) {
    const { boxes, links } = layoutInput(measure, open)
    const shown = (id: string) => standIn(sheet, id, open)
    expect(new Set(boxes.map(({ id }) => id))).toEqual(new Set([...sheet.boxes.keys()].map(shown)))
    const through = sheet.links.filter((link) => shown(link.source) !== shown(link.target))
    expect(links.map(({ id, source, target }) => [id, source, target])).toEqual(
      through.map((link) => [link.id, shown(link.source), shown(link.target)]),
    )
  }
})

test('opening a group moves nothing inside the groups beside it', () => {
  const view = viewOf('attention')
  const open = openingChoice(sheetOf(view.sheet.graph))
  const [group] = open
  const all = layout(layoutInput(view.measure, open))
  const without = layout(layoutInput(view.measure, new Set([...open].filter((id) => id !== group))))
  const shift = (from: Layout, to: Layout, id: string) =>
    to.boxes.find((box) => box.id === id)!.x - from.boxes.find((box) => box.id === id)!.x
  const kept = all.boxes.filter((box) => without.boxes.some((other) => other.id === box.id))
  expect(kept.length).toBeGreaterThan(0)
  for (const box of kept) expect(shift(all, without, box.id)).toBe(shift(all, without, kept[0]!.id))
})

test('parallel edges stand at 76 from the centre or a third of the width', () => {
  const box = (id: string, w: number) => ({ id, parent: '', w, h: 60, side: 6, tail: 0 })
  const link = (id: string) => ({ id, source: 'a', target: 'b', value: 'a', forward: [], gradient: [], badge: null })
  const placed = layout({
    boxes: [box('a', 252), box('b', 180)], groups: [], links: [link('e1'), link('e2')], expanded: [],
    gap: 36, beside: 46,
  })
  const centre = placed.boxes[0]!.x + 126
  expect(placed.wires.map((wire) => wire.knots[0]![0] - centre)).toEqual([-76, 76])
  expect(placed.wires.map((wire) => wire.knots.at(-1)![0] - centre)).toEqual([-60, 60])
})

/** A group of so many boxes, each of them linked to one box outside. */
function fan(count: number): View {
  const { trace, graph } = load('scalar_expression')
  const box = graph.boxes.find(({ node, kind }) => node != null && kind !== 'leaf')!
  const inside = Array.from({ length: count }, (_, at) => ({ ...box, id: `b${at}`, node: null, group: 'turns' }))
  const end = { ...box, id: 'end', node: null, group: null }
  const links = inside.map(({ id }, at) => ({ ...graph.links[0]!, source: id, target: 'end', tensor: `x${at}` }))
  const turns = { id: 'turns', title: 'for t in xs', type: '', kind: 'loop' as const, parent: null, size: count }
  return new View(trace, { ...graph, boxes: [...inside, end], groups: [turns], links }, words('en'), PAGE)
}

test('what many turns of a folded loop send to one box is one wire, which says how many', () => {
  const wires = (count: number, open: string[]) => {
    const input = layoutInput(fan(count).measure, new Set(open))
    return { input, wires: layout(input).wires }
  }
  const folded = wires(6, [])
  expect(folded.wires.map(({ links }) => links.length)).toEqual([6])
  const painter = fan(6)
  const item = new WirePainter(painter.measure).wire(
    folded.wires[0]!, folded.wires[0]!.links.map((id) => painter.link(id)!),
    folded.wires[0]!.links.map(() => ({ forward: 'done', gradient: 'passed', value: null })),
  )
  expect(item.marks.flatMap((mark) => (mark.k === 'text' ? [mark.s] : []))).toEqual(['×6'])
  expect(item.label).toContain('×6')
  expect(wires(4, []).wires.length).toBe(4)
  expect(wires(6, ['turns']).wires.filter((wire) => wire.ends_at_box).length).toBe(6)
})

test('a folded group that a pass starts from has room for that under it', () => {
  const { trace, graph } = load('scalar_expression')
  const all = { id: 'all', title: 'all', type: '', kind: 'loop' as const, parent: null, size: graph.boxes.length }
  const boxes = graph.boxes.map((box) => ({ ...box, group: 'all' }))
  const view = new View(trace, { ...graph, boxes, groups: [all] }, words('en'), PAGE)
  expect(layoutInput(view.measure, new Set()).groups[0]!.tail).toBe(26)
  expect(layoutInput(fan(6).measure, new Set()).groups[0]!.tail).toBe(6)
})

test('a cut says less rather than write over a lane', () => {
  const wire = (id: string, x: number): Wire => ({
    id, links: [id], source: 'a', target: 'b', knots: [[x, 0], [x, 120]], upward: false, labelled: true,
    starts_at_box: true, ends_at_box: true, forward: null, gradient: null, badge: null,
  })
  const link = (id: string) => ({ id, source: 'a', target: 'b', value: id, forward: [], gradient: [], badge: null })
  const wires = [wire('cut', 0), wire('left', -200), wire('right', 200)]
  const links = [{ ...link('cut'), badge: { w: 140, h: 28, text: [260, 120] } }, link('left'), link('right')]
  placeLabels(wires, [], [], new Map(links.map((one) => [one.id, one])))
  const { badge } = wires[0]!
  expect(badge!.text).toBe(120)
  for (const rect of badgeRects(badge!))
    for (const lane of wires.slice(1).flatMap(({ knots }) => cover(knots))) expect(overlap(rect, lane)).toBe(false)
})

test('labels that have no room are dots, none on another', () => {
  const wire = (id: string): Wire => ({
    id, links: [id], source: 'a', target: 'b', knots: [[0, 0], [0, 120]], upward: false, labelled: true,
    starts_at_box: true, ends_at_box: true, forward: null, gradient: null, badge: null,
  })
  const large = [{ w: 900, h: 900 }]
  const link = (id: string) =>
    ({ id, source: 'a', target: 'b', value: id, forward: large, gradient: large, badge: null })
  const wires = ['one', 'two', 'three'].map(wire)
  placeLabels(wires, [], [], new Map(wires.map(({ id }) => [id, link(id)])))
  const dots = wires.flatMap(({ forward, gradient }) => [forward!, gradient!])
  expect(dots.map(({ variant }) => variant)).toEqual([-1, -1, -1, -1, -1, -1])
  dots.forEach((dot, at) => dots.slice(at + 1).forEach((other) => expect(overlap(dot, other)).toBe(false)))
})

test('wires that join the same two boxes pass what stands between them apart', () => {
  const box = (id: string) => ({ id, parent: '', w: 180, h: 60, side: 6, tail: 0 })
  const link = (source: string, target: string, id = `${source}${target}`) =>
    ({ id, source, target, value: source, forward: [], gradient: [], badge: null })
  const placed = layout({
    boxes: ['a', 'b', 'c'].map(box), groups: [],
    links: [link('a', 'b'), link('b', 'c'), link('a', 'c'), link('a', 'c', 'twin')], expanded: [], gap: 36, beside: 46,
  })
  const between = placed.boxes.find(({ id }) => id === 'b')!
  const passing = placed.wires.filter(({ source, target }) => source === 'a' && target === 'c').map(({ knots }) =>
    knots.findLast(([, y]) => y <= between.y)![0])
  expect(Math.abs(passing[0]! - passing[1]!)).toBeGreaterThanOrEqual(14)
})

test('a group is as wide as its title needs beside the lanes that enter it', () => {
  const box = (id: string, parent: string) => ({ id, parent, w: 140, h: 60, side: 6, tail: 0 })
  const placed = layout({
    boxes: [box('a', ''), box('b', 'g')], expanded: ['g'], gap: 28, beside: 6,
    groups: [{ id: 'g', parent: '', w: 160, h: 59, side: 8, tail: 6, header: 190, title: 160 }],
    links: [{ id: 'ab', source: 'a', target: 'b', value: 'a', forward: [], gradient: [], badge: null }],
  })
  expect(placed.frames[0]!.title_w).toBeGreaterThanOrEqual(160)
})

test('a gradient that has no room at its side stands on the other', () => {
  const wire: Wire = {
    id: 'ab', links: ['ab'], source: 'a', target: 'b', knots: [[0, 0], [0, 120]], upward: false, labelled: true,
    starts_at_box: true, ends_at_box: true, forward: null, gradient: null, badge: null,
  }
  const number = [{ w: 60, h: 14 }]
  const link = { id: 'ab', source: 'a', target: 'b', value: 'a', forward: number, gradient: number, badge: null }
  placeLabels([wire], [{ x: 20, y: -20, w: 200, h: 160 }], [], new Map([['ab', link]]))
  expect([wire.gradient!.variant, wire.gradient!.x < -60, wire.forward!.variant]).toEqual([0, true, 0])
  // where it runs with another it would be anyone's
  const branch: Wire = { ...wire, id: 'ac', links: ['ac'], knots: [[0, 0], [0, 110], [90, 120]] }
  placeLabels([wire, branch], [{ x: 20, y: -20, w: 200, h: 160 }], [], new Map([['ab', link], ['ac', link]]))
  expect([wire.gradient!.variant, branch.gradient!.variant]).toEqual([-1, -1])
})

test('turns that hand on stand under each other, what enters them all passes beside them in its order', () => {
  const box = (id: string, parent: string) => ({ id, parent, w: 160, h: 60, side: 6, tail: 0 })
  const turns = ['1', '2', '3', '4']
  const link = (source: string, target: string) =>
    ({ id: `${source}${target}`, source, target, value: source, forward: [], gradient: [], badge: null })
  const placed = layout({
    boxes: [...['a', 'b', 'c'].map((id) => box(id, '')), ...turns.map((id) => box(id, 'g'))],
    groups: [{ ...box('g', ''), header: 90, title: 80 }], expanded: ['g'], gap: 28, beside: 6,
    links: turns.flatMap((turn, at) => [
      ...['a', 'b', 'c'].map((leaf) => link(leaf, turn)), ...(at > 0 ? [link(turns[at - 1]!, turn)] : []),
    ]),
  })
  const stands = new Map(placed.boxes.map((one) => [one.id, one]))
  expect(new Set(turns.map((id) => stands.get(id)!.x)).size).toBe(1)
  for (const { knots } of placed.wires)
    for (const lane of cover(knots))
      for (const one of placed.boxes) expect(overlap(lane, { ...one, y: one.y + 1, h: 58 })).toBe(false)
  const ports = ['a', 'b', 'c'].map((leaf) => placed.wires.find(({ id }) => id.includes(`${leaf}>`))!.knots.at(-1)![0])
  expect(ports).toEqual([...ports].sort((one, other) => one - other))
})
