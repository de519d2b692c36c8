// Search over a run: names, types and lines, of boxes, folded parameters and groups.

import type { Graph } from '../../api/types'
import { groupTitle } from './fold'
import { formatShape } from '../words/format'
import type { Words } from '../words/sentences'
import type { Selection } from '../state'
import type { TraceIndex } from '../trace/trace-index'

export interface Match {
  key: string
  name: string
  detail: string
  selection: Selection
}

const MOST = 60

/** What matches all the words of a query; a number also matches a line. */
export function search(graph: Graph, index: TraceIndex, query: string, t: Words): Match[] {
  const wanted = query.trim().toLowerCase().split(/\s+/).filter(Boolean)
  if (wanted.length === 0) return []
  const found: Match[] = []
  const line = /^(?:l|第)?(\d+)(?:行)?$/.exec(query.trim().toLowerCase())
  const number = line ? Number(line[1]) : 0
  const add = (key: string, name: string, detail: string, words: string, selection: Selection): void => {
    const text = `${name} ${detail} ${words}`.toLowerCase()
    if (wanted.every((word) => text.includes(word))) found.push({ key, name, detail, selection })
  }
  if (number > 0 && number <= index.trace.program.code.split('\n').length) {
    const code = index.trace.program.code.split('\n')[number - 1]?.trim() ?? ''
    found.push({ key: `line ${number}`, name: `${number}`, detail: code, selection: { kind: 'line', line: number } })
  }
  for (const group of graph.groups) {
    const path = index.trace.modules.find((module) => module.id === group.module)?.path ?? groupTitle(group, t)
    add(group.id, path, group.type, '', { kind: 'group', id: group.id })
  }
  for (const box of graph.boxes) {
    const tensor = index.tensor(box.tensor)
    const shape = tensor ? formatShape(tensor.shape) : ''
    const names = tensor?.names?.join(' ') ?? ''
    const selection: Selection = { kind: 'box', id: box.id }
    add(
      box.id, box.name || box.title, `${box.kind === 'leaf' ? '' : box.title} ${shape}`.trim(),
      `${box.family} ${names}`, selection,
    )
    for (const parameter of box.parameters ?? []) {
      const of = index.tensor(parameter.tensor)
      add(`${box.id} ${parameter.tensor}`, parameter.name, of ? formatShape(of.shape) : '', 'parameter', selection)
    }
  }
  return found.slice(0, MOST)
}
