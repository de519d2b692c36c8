// Search over a run: names, types, lines and what values and gradients are like, of boxes, folded parameters and
// groups.

import type { Box, Graph, Tensor } from '../../api/types'
import { groupTitle } from './fold'
import { nonFinite, normOf } from '../words/display'
import { formatNumber, formatShape } from '../words/format'
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

/** What a query asks of a box besides words: `nan`, `inf`, `grad = 0`, `norm > 50`, `4x16`. */
type Condition = (value: Tensor | undefined, gradient: Tensor | undefined) => boolean

const COMPARED = /(?<![\p{L}\p{N}_.])(grad|norm)\s*(<=|>=|<|>|=)=?\s*([-+]?[\d.]+(?:e[-+]?\d+)?)/giu
const HOLDS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '<': (a, b) => a < b, '>': (a, b) => a > b, '<=': (a, b) => a <= b, '>=': (a, b) => a >= b, '=': (a, b) => a === b,
}

/** The conditions of a query, and the words that are left. */
function conditionsOf(query: string): { conditions: Condition[]; words: string[] } {
  const conditions: Condition[] = []
  const rest = query.replace(COMPARED, (_, what: string, sign: string, number: string) => {
    const holds = (tensor: Tensor | undefined) =>
      tensor !== undefined && HOLDS[sign]!(Math.abs(normOf(tensor)), Math.abs(Number(number)))
    const isGradient = what.toLowerCase() === 'grad'
    conditions.push((value, gradient) => holds(gradient) || (!isGradient && holds(value)))
    return ' '
  })
  const words = rest.trim().toLowerCase().split(/\s+/).filter((word) => {
    const shape = /^\d+([x×]\d+)+$/.test(word) ? word.replaceAll('x', '×') : null
    if (shape) conditions.push((value) => value !== undefined && formatShape(value.shape) === shape)
    else if (word === 'nan' || word === 'inf')
      conditions.push((...tensors) => tensors.some((tensor) => tensor !== undefined && nonFinite(tensor)[word] > 0))
    return word !== '' && !shape && word !== 'nan' && word !== 'inf'
  })
  return { conditions, words }
}

/** The gradient last shown on a box: what came to its node, of a leaf its `.grad`. */
function gradientOf(box: Box, index: TraceIndex): Tensor | undefined {
  if (box.kind === 'leaf' && box.tensor != null)
    return index.tensor(index.accumulationsOf.get(index.identity(box.tensor))?.at(-1)?.accumulation.after)
  return index.tensor(index.visitsOfNode.get(box.node ?? '')?.at(-1)?.visit.entered[box.output_nr ?? 0])
}

/** What matches all the words and conditions of a query; a number also matches a line. */
export function search(graph: Graph, index: TraceIndex, query: string, t: Words): Match[] {
  const line = /^(?:l|line|第)?\s*(\d+)\s*(?:行)?$/.exec(query.trim().toLowerCase())
  const number = line ? Number(line[1]) : 0
  const { conditions, words: wanted } = conditionsOf(query)
  if (wanted.length === 0 && conditions.length === 0) return []
  const found: Match[] = []
  const add = (key: string, name: string, detail: string, words: string, selection: Selection): void => {
    const text = `${name} ${detail} ${words}`.toLowerCase()
    if (wanted.every((word) => text.includes(word))) found.push({ key, name, detail, selection })
  }
  if (number > 0 && number <= index.trace.program.code.split('\n').length) {
    const code = index.trace.program.code.split('\n')[number - 1]?.trim() ?? ''
    found.push({ key: `line ${number}`, name: `${number}`, detail: code, selection: { kind: 'line', line: number } })
  }
  for (const group of conditions.length > 0 ? [] : graph.groups) {
    const path = index.trace.modules.find((module) => module.id === group.module)?.path ?? groupTitle(group, t)
    add(group.id, path, group.type, '', { kind: 'group', id: group.id })
  }
  for (const box of graph.boxes) {
    const tensor = index.tensor(box.tensor)
    const shape = tensor ? formatShape(tensor.shape) : ''
    const names = tensor?.names?.join(' ') ?? ''
    const selection: Selection = { kind: 'box', id: box.id }
    const gradient = conditions.length > 0 ? gradientOf(box, index) : undefined
    if (!conditions.every((holds) => holds(tensor, gradient))) continue
    const norms = conditions.length > 0 ? [tensor, gradient].map((one) => (one ? formatNumber(normOf(one)) : '–')) : []
    add(
      box.id, box.name || box.title,
      [box.kind === 'leaf' ? '' : box.title, shape, norms.join(' ▴ ')].filter(Boolean).join(' '),
      `${box.family} ${names} ${tensor?.dtype ?? ''}`, selection,
    )
    for (const parameter of conditions.length > 0 ? [] : (box.parameters ?? [])) {
      const of = index.tensor(parameter.tensor)
      add(`${box.id} ${parameter.tensor}`, parameter.name, of ? formatShape(of.shape) : '', 'parameter', selection)
    }
  }
  return found.slice(0, MOST)
}
