// Which boxes are drawn as one: the tree of groups, opening and folding, groups that are alike.

import type { Box, Graph, Group, Link } from '../../api/types'
import { push } from '../trace/trace-index'
import { formatDigits, wireNumber } from '../words/format'

/** Stubs that have room beside a box. */
const MOST_STUBS = 3
/** What is used more often leads a lane to its first use alone, and is a stub at the others: the mask of all layers. */
const MOST_LANES = 4
/** A level with more children than this is cut into pieces of its own. */
const LONGEST_LEVEL = 60
const PIECE = 20
/** The same for what a graph opens with, and for the leaves that stand there by themselves. */
const LONGEST_TOP = 30
const MOST_LEAVES = 10

/** A constant or untracked operand drawn as a stub beside the box that uses it. */
export interface Stub {
  text: string
  /** The ghost box it stands for, when it is one. */
  box: string | null
  tensor: string | null
}

export interface DrawnLink extends Link {
  id: string
}

/** A graph ready to fold: its boxes without those drawn as stubs, in a tree of groups. */
export interface Sheet {
  graph: Graph
  boxes: ReadonlyMap<string, Box>
  groups: ReadonlyMap<string, Group>
  links: readonly DrawnLink[]
  stubs: ReadonlyMap<string, readonly Stub[]>
  /** Group of each box and each group; absent at the top. */
  parents: ReadonlyMap<string, string>
  /** Children (boxes and groups) of each group in forward order; the top is ''. */
  children: ReadonlyMap<string, readonly string[]>
  /** Groups of a single box are not drawn, but for layers: the box says which module it is. Group id → box id. */
  single: ReadonlyMap<string, string>
  /** The innermost such group of a box. */
  moduleOf: ReadonlyMap<string, Group>
}

/** Whether a graph is a lesson's: so few boxes that all are seen, in no groups but layers and what one op made. */
export function isSmall(boxes: number, groups: readonly Group[]): boolean {
  return boxes <= 30 && groups.every(({ kind }) => kind === 'layer' || kind === 'op')
}

/** What a group is called; one that only cuts a long list says which of its boxes it holds. */
export function groupTitle(group: Group, words: (key: string, values: { range: string }) => string): string {
  return group.kind === 'line' && /^\d+–\d+$/.test(group.title)
    ? words('graph.range', { range: group.title })
    : group.title
}

/** A stable id for each link of a graph, for selection and addresses. */
export function linkIds(graph: Graph): string[] {
  const seen = new Map<string, number>()
  return graph.links.map((link) => {
    const pair = `${link.source}>${link.target}`
    const count = seen.get(pair) ?? 0
    seen.set(pair, count + 1)
    return count === 0 ? pair : `${pair}#${count}`
  })
}

export function sheetOf(graph: Graph): Sheet {
  const ids = linkIds(graph)
  const drawn = graph.links.map((link, at) => ({ ...link, id: ids[at]! }))
  const { hidden, stubs } = stubsOf(graph, drawn)
  const boxes = new Map(graph.boxes.filter((box) => !hidden.has(box.id)).map((box) => [box.id, box]))
  const groups = new Map(graph.groups.map((group) => [group.id, group]))
  const { single, moduleOf } = singleGroups(boxes, groups)
  const parents = new Map<string, string>()
  for (const box of boxes.values()) {
    let child = box.id
    for (let group = box.group; group != null && groups.has(group); group = groups.get(group)!.parent) {
      if (single.has(group)) continue
      parents.set(child, group)
      child = group
    }
  }
  const children = new Map<string, string[]>()
  const seen = new Set<string>()
  for (const box of boxes.values()) {
    for (let id: string | undefined = box.id; id !== undefined && !seen.has(id); id = parents.get(id)) {
      seen.add(id)
      push(children, parents.get(id) ?? '', id)
    }
  }
  const sheet = {
    graph, boxes, groups, stubs,
    links: drawn.filter(({ id, source, target }) => !hidden.has(id) && boxes.has(source) && boxes.has(target)),
    parents, children, single, moduleOf,
  }
  cutLongLevels(sheet)
  return sheet
}

function singleGroups(
  boxes: ReadonlyMap<string, Box>, groups: ReadonlyMap<string, Group>,
): { single: Map<string, string>; moduleOf: Map<string, Group> } {
  const members = new Map<string, string[]>()
  for (const box of boxes.values()) {
    for (let group = box.group; group != null && groups.has(group); group = groups.get(group)!.parent)
      push(members, group, box.id)
  }
  const single = new Map<string, string>()
  const moduleOf = new Map<string, Group>()
  for (const [group, ids] of members) {
    if (ids.length > 1 || groups.get(group)!.kind === 'layer') continue
    single.set(group, ids[0]!)
    if (boxes.get(ids[0]!)!.group === group) moduleOf.set(ids[0]!, groups.get(group)!)
  }
  return { single, moduleOf }
}

/** Ghosts without a past (a constant, an untracked tensor) are drawn as stubs at each use; hidden are these, and links
 *  that stubs stand for. */
function stubsOf(graph: Graph, links: readonly DrawnLink[]): { hidden: Set<string>; stubs: Map<string, Stub[]> } {
  const made = new Set(links.map((link) => link.target))
  const hidden = new Set<string>()
  const stubs = new Map<string, Stub[]>()
  const byId = new Map(graph.boxes.map((box) => [box.id, box]))
  for (const box of graph.boxes)
    for (const text of box.constants ?? []) push(stubs, box.id, { text: written(text), box: null, tensor: null })
  const uses = new Map<string, DrawnLink[]>()
  for (const link of links) push(uses, link.source, link)
  for (const link of links) {
    const source = byId.get(link.source)
    if (!source || link.kind !== 'ghost') continue
    const isBare = isStub(source) && !made.has(source.id)
    const used = uses.get(source.id)!
    if (!isBare && (used.length <= MOST_LANES || link === used[0])) continue
    hidden.add(isBare ? source.id : link.id)
    push(stubs, link.target, { text: source.name || source.title, box: source.id, tensor: source.tensor ?? null })
  }
  for (const [box, list] of stubs) stubs.set(box, bounded(list))
  return { hidden, stubs }
}

/** A number as Python writes it, as the page does; with so many digits that it is hardly another one. */
export function written(text: string): string {
  return /^-?(inf|nan|[\d.]+(e[-+]\d+)?)$/.test(text) ? formatDigits(wireNumber(text), 9) : text
}

/** As many stubs as have room beside a box: those that say the same are one, the rest are counted. */
function bounded(stubs: readonly Stub[]): Stub[] {
  if (stubs.length <= MOST_STUBS) return [...stubs]
  const alike = new Map<string, Stub[]>()
  for (const stub of stubs) push(alike, stub.text, stub)
  const joined = [...alike.values()].map((same): Stub =>
    same.length > 1 ? { text: `${same[0]!.text} ×${same.length}`, box: null, tensor: null } : same[0]!,
  )
  if (joined.length <= MOST_STUBS) return joined
  const shown = joined.slice(0, MOST_STUBS - 1)
  const rest = [...alike.values()].slice(shown.length).flat()
  return [...shown, { text: `+${rest.length}`, box: null, tensor: null }]
}

function isStub(box: Box): boolean {
  return box.kind === 'ghost' && box.op == null && box.node == null
}

interface Levels {
  groups: Map<string, Group>
  parents: Map<string, string>
  children: Map<string, string[]>
  boxes: Map<string, Box>
}

/** Adds artificial groups to flat lists that are too long to lay out or read at once. Of straight code the leaves stand
 *  by themselves, and each line is one. */
function cutLongLevels(sheet: Levels): void {
  for (const [parent, list] of [...sheet.children]) {
    let level = list
    let leaves: string[] = []
    if (!parent && list.length > LONGEST_TOP) {
      leaves = list.filter((id) => sheet.boxes.get(id)?.kind === 'leaf')
      if (leaves.length > MOST_LEAVES) leaves = []
      level = byLine(sheet, list.filter((id) => !leaves.includes(id)))
    }
    for (let depth = 0; leaves.length + level.length > (parent ? LONGEST_LEVEL : LONGEST_TOP); depth++) {
      const pieces: string[] = []
      const even = Math.ceil(level.length / Math.ceil(level.length / PIECE))
      for (let start = 0; start < level.length; start += even)
        pieces.push(joined(sheet, parent, `${depth}:${start}`, level.slice(start, start + even), true))
      level = pieces
    }
    sheet.children.set(parent, [...leaves, ...level])
  }
}

/** The boxes of each line as one, where it made several. */
function byLine(sheet: Levels, level: readonly string[]): string[] {
  const runs: string[][] = []
  let line: number | undefined
  for (const id of level) {
    const own = lastBox(sheet, id)?.span?.line
    if (own === undefined || own !== line) runs.push([])
    runs.at(-1)!.push(id)
    line = own
  }
  return runs.flatMap((run) => (run.length > 1 && run.length <= LONGEST_LEVEL ? joined(sheet, '', run[0]!, run) : run))
}

/** Puts a few of a level into a group of their own, called after its last and perhaps its first; gives its id. */
function joined(sheet: Levels, parent: string, key: string, members: string[], fromFirst = false): string {
  const id = `piece:${parent}:${key}`
  const name = (id: string) =>
    sheet.groups.get(id)?.title ?? (sheet.boxes.get(id)?.name || sheet.boxes.get(id)?.title || id)
  const title = (fromFirst ? `${name(members[0]!)} … ` : '') + name(members.at(-1)!)
  const size = members.reduce((sum, member) => sum + (sheet.groups.get(member)?.size ?? 1), 0)
  const last = lastBox(sheet, members.at(-1)!)
  sheet.groups.set(id, {
    id, title, type: '', kind: 'line', parent: parent || null, size, tensor: last?.tensor, node: last?.node,
  })
  sheet.children.set(id, members)
  for (const member of members) sheet.parents.set(member, id)
  if (parent) sheet.parents.set(id, parent)
  return id
}

function lastBox(sheet: { boxes: Map<string, Box>; children: Map<string, string[]> }, id: string): Box | undefined {
  let at = id
  for (let list = sheet.children.get(at); list; list = sheet.children.get(at)) at = list[list.length - 1]!
  return sheet.boxes.get(at)
}

/** The same for groups of one kind, class and size. */
export function signature(group: Group): string {
  return `${group.kind} ${group.type} ${group.size ?? 0}${group.kind === 'module' && group.type === '' ? group.id : ''}`
}

export function childrenOf(sheet: Sheet, group: string): readonly string[] {
  return sheet.children.get(group) ?? []
}

/** Whether a group holds leaves alone. */
export function isOfLeaves(sheet: Sheet, id: string): boolean {
  const box = sheet.boxes.get(id)
  return box ? box.kind === 'leaf' : childrenOf(sheet, id).every((inner) => isOfLeaves(sheet, inner))
}

/** What stands for a box on screen: itself, or the outermost folded group around it. */
export function standIn(sheet: Sheet, id: string, expanded: ReadonlySet<string>): string {
  let shown = sheet.single.get(id) ?? id
  for (let at: string | undefined = shown; at !== undefined; at = sheet.parents.get(at)) {
    if (sheet.groups.has(at) && at !== id && !expanded.has(at)) shown = at
  }
  return shown
}

/** The groups around something that must be open to see it. */
export function groupsAround(sheet: Sheet, id: string): string[] {
  const around: string[] = []
  const first = sheet.parents.get(sheet.single.get(id) ?? id)
  for (let at = first; at !== undefined; at = sheet.parents.get(at)) around.push(at)
  return around
}

/** The expanded set with a group opened or folded; with `alike` all groups like it follow. */
export function toggled(sheet: Sheet, expanded: ReadonlySet<string>, group: string, alike = false): Set<string> {
  const result = new Set(expanded)
  const opening = !expanded.has(group)
  for (const id of alike ? alikeGroups(sheet, group) : [group]) {
    if (opening) result.add(id)
    else result.delete(id)
  }
  return result
}

/** Groups of the same kind, class and size: the identical layers of a model. */
export function alikeGroups(sheet: Sheet, id: string): string[] {
  const like = sheet.groups.get(id)
  if (!like) return []
  return [...sheet.groups.values()]
    .filter((group) => !sheet.single.has(group.id) && signature(group) === signature(like))
    .map((group) => group.id)
}
