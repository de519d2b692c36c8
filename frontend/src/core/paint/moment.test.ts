import { describe, expect, test } from 'vitest'
import type { Box, Tensor, Trace } from '../../api/types'
import { load, NAMES, type Name } from '../fixtures/load'
import { layout } from '../layout/layout'
import { groupLife } from './group-life'
import { headOfGroup, stripText, type StepNumbers } from './measure'
import type { Cell } from './moment'
import { PAGE } from './annotations'
import { layoutInput } from './sizes'
import { drawAll, View } from './view'
import { words } from '../words/bundled'

function viewOf(name: Name, passes?: string[]): View {
  const { trace, graph } = load(name)
  return new View(trace, passes ? { ...graph, passes } : graph, words('en'), PAGE)
}

function stepsOf(view: View, step: number, box: string): StepNumbers {
  return view.measure.spacious!.steps(box, view.at(step), view.measure)
}

function boxNamed(view: View, name: string): string {
  return [...view.sheet.boxes.values()].find((box) => box.name === name)!.id
}

/** Step number of the n-th event of a kind. */
function stepOf(view: View, kind: string, nth = 0): number {
  const steps = view.story.index.trace.timeline.flatMap((event, at) => (event.kind === kind ? [at + 1] : []))
  return steps[nth]!
}

function data(cell: Cell): Tensor['data'] | string {
  return cell.kind === 'tensor' ? cell.tensor.data : cell.kind
}

describe('before anything happened', () => {
  test('every cell waits and no lane has a gradient', () => {
    const view = viewOf('scalar_expression')
    const moment = view.at(0)
    for (const box of view.sheet.boxes.values()) {
      expect(moment.box(box.id).progress).toBe('future')
      expect(moment.box(box.id).value.kind).toBe('waiting')
    }
    for (const link of view.sheet.links)
      expect(moment.link(link)).toMatchObject({ forward: 'waiting', gradient: 'waiting', value: null })
  })
})

describe('y = x ** 2 + 3 * x + 1', () => {
  const view = viewOf('scalar_expression')
  const x = boxNamed(view, 'x')
  const [left, right] = view.sheet.links.filter((link) => link.source === x)

  test('forward steps fill the values one by one', () => {
    const square = boxNamed(view, 'x ** 2')
    expect(data(view.at(1).box(x).value)).toEqual([2])
    expect(view.at(1).box(square).value.kind).toBe('waiting')
    expect(view.at(2).box(square).progress).toBe('forward')
    expect(data(view.at(2).box(square).value)).toEqual([4])
    expect(view.at(3).box(square).progress).toBe('waiting')
  })

  test('the seed enters at the root', () => {
    const step = stepOf(view, 'seed')
    const root = boxNamed(view, 'y')
    expect(view.at(step - 1).seed(root)).toMatchObject({ state: 'waiting', value: null, text: 'y.backward()' })
    expect(view.at(step).seed(root)).toMatchObject({ state: 'current', value: { data: [1] } })
    expect(view.at(step + 1).seed(root)).toMatchObject({ state: 'passed' })
  })

  test('a visit sends gradients up its edges', () => {
    const step = stepOf(view, 'visit', 2)
    const states = [left!, right!].map((link) => view.at(step).link(link).gradient)
    expect(states.sort()).toEqual(['current', 'waiting'])
  })

  test('contributions stand in the strip before their sum', () => {
    const step = stepOf(view, 'sum')
    expect(view.at(step).currentBox).toBe(x)
    expect([left!, right!].map((link) => view.at(step).link(link).gradient)).toEqual(['current', 'current'])
    expect(data(view.at(step).box(x).gradient)).toBe('none')
    const strip = (at: number) => stripText(view.at(at).box(x).strip!, words('en'))
    expect(strip(stepOf(view, 'visit', 2))).toBe('3 + · → ·')
    expect(strip(step - 1)).toBe('3 + 4 → ·')
    expect(strip(step)).toBe('3 + 4 → 7')
    expect(stepsOf(view, step, x).inStrip).toBe(true)
  })

  test('the leaf takes the sum in', () => {
    const step = stepOf(view, 'accumulate')
    const paint = view.at(step).box(x)
    expect(paint.progress).toBe('current')
    expect(data(paint.gradient)).toEqual([7])
    expect(stripText(paint.strip!, words('en'))).toBe('3 + 4 → 7')
    expect(stepsOf(view, step, x).inStrip).toBe(true)
  })
})

test('a leaf says when it holds another value than the ops drawn took', () => {
  const { trace, graph } = load('accumulation')
  const update = { id: 'last', kind: 'step' as const, changes: [{ before: 't1', after: 'later', name: 'w' }] }
  const tensors = [...trace.tensors, { ...trace.tensors[0]!, id: 'later', identity: 't1', data: [9, 9] }]
  const timeline = [...trace.timeline, { kind: 'update' as const, update: 'last' }]
  const view = new View({ ...trace, updates: [update], tensors, timeline }, graph, words('en'), PAGE)
  const leaf = view.sheet.boxes.get(boxNamed(view, 'w'))!
  const place = { id: leaf.id, x: 0, y: 0, w: 252, h: 70 }
  const [before, after] = [-1, 0].map((by) =>
    view.painter('light').box(place, leaf, view.at(timeline.length + by)))
  expect(before!.marks).toContainEqual(expect.objectContaining({ s: 'leaf' }))
  expect(after!.marks).toContainEqual(expect.objectContaining({ s: 'after update' }))
  expect(after!.label).toBe('w · after update · [9 9] · backward: gradient [3 3]')
})

test('a leaf that no graph uses has None for its gradient, and what asks for none has no gradient', () => {
  const { trace, graph } = load('accumulation')
  const boxes = graph.boxes.map((box) => (box.name === 'w' ? { ...box, node: null } : box))
  const cell = (requires_grad: boolean): string => {
    const tensors = trace.tensors.map((tensor) => (tensor.id === 't1' ? { ...tensor, requires_grad } : tensor))
    const view = new View({ ...trace, tensors, passes: [] }, { ...graph, boxes, passes: [] }, words('en'), PAGE)
    return view.at(3).box(boxNamed(view, 'w')).gradient.kind
  }
  expect([cell(true), cell(false)]).toEqual(['none', 'blank'])
})

describe('three passes over one leaf', () => {
  const view = viewOf('accumulation')
  const w = boxNamed(view, 'w')
  const grad = (step: number) => data(view.at(step).box(w).gradient)

  test('.grad follows the passes before, and the reset', () => {
    expect(grad(stepOf(view, 'accumulate', 0) - 1)).toBe('none')
    expect(grad(stepOf(view, 'accumulate', 0))).toEqual([2, -4])
    expect(grad(stepOf(view, 'accumulate', 1))).toEqual([5, -1])
    expect(grad(stepOf(view, 'reset') - 1)).toEqual([5, -1])
    expect(grad(stepOf(view, 'reset'))).toEqual([0, 0])
    expect(grad(stepOf(view, 'accumulate', 2))).toEqual([3, 3])
  })

  test('the addition says what was there before', () => {
    const strip = (nth: number) => {
      const pass = viewOf('accumulation', [`p${nth + 1}`])
      return stripText(pass.at(stepOf(pass, 'accumulate', nth)).box(w).strip!, words('en'))
    }
    expect(strip(0)).toBe('None + [2, −4] → [2, −4]')
    expect(strip(1)).toBe('[2, −4] + [3, 3] → [5, −1]')
    expect(strip(2)).toBe('0 + 3 → 3')
    const terms = [3, -5].map((value) => ({ ...view.story.index.trace.tensors[0]!, shape: [], data: [value] }))
    const below = { kind: 'sum', terms, result: terms[1]!, done: true, before: false } as const
    expect(stripText(below, words('en'))).toBe('3 + (−5) → −5')
    const row = (...data: number[]) => ({ ...terms[0]!, shape: [data.length], data })
    const met = { ...below, terms: [row(0.12346, 10, 15), row(1, -1, 2)], result: row(1.12346, 9, 17) }
    const told = (room: number) => stripText(met, words('en'), room)
    expect([400, 300, 200, 140, 60].map(told)).toEqual([
      '[0.1235, 10, 15] + [1, −1, 2] → [1.123, 9, 17]', '[0.123, 10, 15] + [1, −1, 2] → [1.12, 9, 17]',
      '2 gradients → [1.123, 9, 17]', '2 gradients → ‖19.3‖', '',
    ])
    const only = { ...below, kind: 'grad', terms: [null, met.result], result: met.result, before: true } as const
    expect([400, 200, 135, 60].map((room) => stripText(only, words('en'), room))).toEqual([
      'None + [1.123, 9, 17] → [1.123, 9, 17]', 'None → [1.123, 9, 17]', 'None → [1.12, 9, 17]', '',
    ])
    const large = row(1, 2, 3, 4, 5)
    expect(stripText({ ...only, terms: [null, large], result: large }, words('en'))).toBe('')
    const many = { ...below, terms: [1, 2, 3].map(() => row(1, 2, 3, 4, 5)), result: row(3, 6, 9, 12, 15) }
    expect(stripText(many, words('en'))).toBe('3 gradients → ‖22.2‖')
    expect(view.at(stepOf(view, 'reset')).box(w).strip).toMatchObject({ terms: [], done: false })
  })

  test('a leaf keeps what the chosen pass left once another one has begun', () => {
    const second = viewOf('accumulation', ['p2'])
    const last = second.story.index.trace.timeline.length
    expect(stripText(second.at(last).box(w).strip!, words('en'))).toBe('[2, −4] + [3, 3] → [5, −1]')
    expect(data(second.at(last).box(w).gradient)).toEqual([5, -1])
    expect(second.at(stepOf(second, 'accumulate', 2)).currentBox).toBeNull()
    const first = second.at(stepOf(second, 'accumulate', 0)).box(w)
    expect([stripText(first.strip!, words('en')), data(first.gradient)]).toEqual(['', [2, -4]])
    expect(data(second.at(stepOf(second, 'reset')).box(w).gradient)).toEqual([0, 0])
  })

  test('nodes are painted by the chosen pass only', () => {
    const third = boxNamed(view, 'third')
    expect(view.at(stepOf(view, 'visit', 0)).box(third).progress).toBe('future')
    expect(view.at(stepOf(view, 'pass_end', 2)).box(third).progress).toBe('visited')
  })
})

test('leaves shown as one have the norm of all their values, and of their gradients as these come', () => {
  const { trace, graph } = load('broadcasting')
  const group = { id: 'g', title: 'ws', type: '', kind: 'line' as const, parent: null, size: 2 }
  const boxes = graph.boxes.map((box) => (box.kind === 'leaf' ? { ...box, group: 'g' } : { ...box, group: 'o' }))
  const view = new View(trace, { ...graph, boxes, groups: [group, { ...group, id: 'o' }] }, words('en'), PAGE)
  const leaves = trace.tensors.filter(({ role, requires_grad }) => role === 'leaf' && requires_grad)
  const summed = trace.passes[0]!.accumulations.map(({ after }) => view.story.index.tensor(after)!)
  expect([leaves.length, summed.length]).toEqual([2, 2])
  const norm = (tensors: readonly Tensor[]) =>
    Math.sqrt(tensors.flatMap(({ data }) => data!.map(Number)).reduce((sum, value) => sum + value ** 2, 0))
  const end = view.at(trace.timeline.length)
  const { value, gradient } = end.group(group)
  expect([value, gradient]).toMatchObject([{ norm: norm(leaves) }, { norm: norm(summed) }].map(({ norm }) => (
    { kind: 'norm', norm: expect.closeTo(norm, 6) })))
  const first = stepOf(view, 'accumulate')
  expect([first - 1, first].map((step) => view.at(step).group(group).gradient.kind)).toEqual(['none', 'norm'])
  expect(view.at(first).group(group).gradient).toMatchObject({ norm: expect.closeTo(norm(summed.slice(0, 1)), 6) })
  const input = layoutInput(view.measure, new Set())
  const wires = input.links.filter(({ source }) => source === 'g')
  expect([wires.length, new Set(wires.map(({ value }) => value)).size]).toEqual([2, 1])
  const item = drawAll(view, layout(input), end, view.painter('light'))
    .find(({ id }) => id === 'g')!
  expect(item.marks.flatMap((mark) => (mark.k === 'text' ? mark.s : []))).toEqual(expect.arrayContaining(['2 leaves']))
})

describe('a cut', () => {
  const view = viewOf('detach')
  const end = view.story.index.trace.timeline.length

  test('what the gradient cannot reach says None in the end', () => {
    const square = boxNamed(view, 'square')
    expect(view.at(stepOf(view, 'visit')).box(square).gradient.kind).toBe('waiting')
    expect(view.at(end).box(square).gradient.kind).toBe('none')
  })

  test('a cut has no gradient lane, and an edge nothing came back on loses its own', () => {
    const cut = view.sheet.links.find((link) => link.kind === 'cut')!
    const above = view.sheet.links.find((link) => link.target === cut.source)!
    expect(view.at(0).link(cut).gradient).toBe('absent')
    expect(view.at(0).link(above).gradient).toBe('waiting')
    expect(view.at(end).link(above).gradient).toBe('absent')
  })
})

test('a graph opens where its pass starts, not at the leaf that the pass came to last', () => {
  const found = NAMES.filter((name) => {
    const view = viewOf(name)
    const added = view.story.index.trace.timeline.some(({ kind }) => kind === 'accumulate')
    const isWrong = view.story.index.trace.findings.some(({ severity }) => severity !== 'note')
    return added && !isWrong && !view.story.index.trace.failure
  })
  expect(found.length).toBeGreaterThan(2)
  const elsewhere = found.filter((name) => !viewOf(name).story.hasSeed(viewOf(name).storyBox!))
  expect(elsewhere).toEqual([])
})

test('a graph opens at the op that raised, else at a node of its diagnosis rather than at a tensor', () => {
  const { trace, graph } = load('broadcasting')
  const boxes = graph.boxes.filter(({ op }) => op)
  const [first, last] = [boxes[0]!, boxes.at(-1)!]
  const finding = { code: 'shape', severity: 'error' as const, tensors: [first.tensor!], parameters: {} }
  const told = (nodes: string[]) => new View({ ...trace, findings: [{ ...finding, nodes }] }, graph, words('en'), PAGE)
  expect([told([]).storyBox, told([last.node!]).storyBox]).toEqual([first.id, last.id])
  const opened = (raised: boolean) => {
    const ops = trace.ops.map((op) => (op.id === last.op ? { ...op, raised } : op))
    const failure = { kind: 'exception' as const, type: 'RuntimeError', message: '' }
    return new View({ ...trace, ops, failure, findings: [finding] }, graph, words('en'), PAGE).storyBox
  }
  expect([opened(false), opened(true)]).toEqual([first.id, last.id])
})

test('boxes whose numbers cannot be read, as within torch.func, are none to open a graph at', () => {
  const { trace, graph } = load('broadcasting')
  const [first, last] = [graph.boxes.find(({ op }) => op)!, graph.boxes.at(-1)!]
  const unread = { contents: 'unreadable' as const }
  const tensors = trace.tensors.map((one) => (one.id === first.tensor ? { ...one, ...unread } : one))
  const view = new View({ ...trace, tensors }, graph, words('en'), PAGE)
  expect([first.id, last.id, 'nothing'].map((id) => view.isUnread(id))).toEqual([true, false, false])
})

test('the node that raised says so, from that moment on', () => {
  const view = viewOf('error_in_place')
  const grown = [...view.sheet.boxes.values()].find((box) => box.title === 'ExpBackward0')!.id
  const failed = stepOf(view, 'pass_end')
  expect(view.at(failed - 1).box(grown)).toMatchObject({ trouble: '', strip: null, leftOut: false })
  expect(view.at(failed).box(grown)).toMatchObject({
    trouble: 'raised', gradient: { kind: 'raised', text: 'RuntimeError' }, strip: { kind: 'error' },
  })
  const x = boxNamed(view, 'x')
  expect([failed - 1, failed].map((step) => view.at(step).box(x).leftOut)).toEqual([false, false])
})

test('what a pass that raised did not come to is not yet there, rather than None', () => {
  const { trace, graph } = load('scalar_expression')
  const told = (failed: boolean, nth: number) => {
    const passes = trace.passes.map((pass) => ({ ...pass, failed, visits: pass.visits.slice(0, 1) }))
    const view = new View({ ...trace, passes }, graph, words('en'), PAGE)
    const moment = view.at(stepOf(view, 'pass_end', nth))
    const square = boxNamed(view, 'x ** 2')
    const link = view.sheet.links.find(({ target }) => target === square)!
    return [moment.box(square).gradient.kind, moment.link(link).gradient]
  }
  expect(told(true, 0)).toEqual(['waiting', 'waiting'])
  expect(told(false, 0)).toEqual(['none', 'absent'])
})

test('a hook shows the gradient before and after', () => {
  const view = viewOf('hooks')
  const hidden = boxNamed(view, 'hidden')
  const step = stepOf(view, 'hook')
  const { strip, gradient } = view.at(step).box(hidden)
  expect(strip).toMatchObject({ kind: 'hook', done: true })
  expect(strip!.terms[0]!.data).toEqual([1, 2, 4])
  expect(data(gradient)).toEqual([1, 2, 2.5])
  expect(view.at(0).box(hidden).strip).toMatchObject({ kind: 'hook', done: false, terms: [], result: null })
})

test.each(NAMES)('in the end %s agrees with the trace', (name) => {
  const view = viewOf(name)
  const { trace } = view.story.index
  const moment = view.at(trace.timeline.length)
  for (const box of view.sheet.boxes.values()) {
    if (box.kind !== 'leaf' || box.node == null) continue
    const last = trace.tensors.findLast(
      (tensor) => (tensor.identity ?? tensor.id) === view.story.index.identity(box.tensor!),
    )!
    const kept = trace.tensors.find((tensor) => tensor.id === last.grad)
    expect(data(moment.box(box.id).gradient), box.name).toEqual(kept ? kept.data : 'none')
  }
})

describe('derivatives of derivatives', () => {
  const view = viewOf('double_backward')
  const { trace } = view.story.index
  const layer = (pass: string) => [...view.sheet.groups.values()].find((group) => group.pass === pass)!
  const last = (pass: string) => view.inside(layer(pass).id).at(-1)!

  test('each layer has a frame that says which pass computed it', () => {
    expect([...view.sheet.groups.values()].map((group) => [group.kind, group.pass])).toEqual([
      ['layer', 'p1'], ['layer', 'p2'],
    ])
    expect(headOfGroup(layer('p1'), view.measure)).toMatchObject({ title: 'grad() #1', aside: 'as\u00a0a\u00a0graph' })
    expect(view.at(0).seed(boxNamed(view, 'y'))?.text).toBe('grad(y, x, …)')
  })

  test('8, 12, 12 and 6 stand in one picture at the end', () => {
    const end = view.at(trace.timeline.length)
    const values = [boxNamed(view, 'y'), last('p1').id, last('p2').id].map((id) => data(end.box(id).value))
    expect(values).toEqual([[8], [12], [12]])
    expect(data(end.box(boxNamed(view, 'x')).gradient)).toEqual([6])
  })

  test('what an earlier pass sent stands no longer beside what a later one sends', () => {
    const y = boxNamed(view, 'y')
    const lane = view.sheet.links.find((link) => link.target === y)!
    const first = view.at(stepOf(view, 'pass_end'))
    expect(first.link(lane).value?.data).toEqual([12])
    expect([data(first.box(y).gradient), first.seed(y)!.state]).toEqual([[1], 'passed'])
    const later = view.at(stepOf(view, 'pass', 1))
    expect(later.link(lane).value).toBe(null)
    expect([later.box(y).gradient.kind, later.seed(y)!.state]).toEqual(['waiting', 'waiting'])
  })

  test('a box that two passes visit tells of the latest one, and a pass lights its own layer', () => {
    const slope = last('p1')
    const visits = view.story.index.visitsOfNode.get(slope.node!)!
    expect(visits.map((visit) => visit.pass.id)).toEqual(['p2'])
    const first = view.at(stepOf(view, 'pass_end'))
    expect(first.progress(boxNamed(view, 'y'))).toBe('visited')
    expect(first.progress(slope.id)).not.toBe('visited')
    expect(view.at(visits[0]!.step).currentBox).toBe(slope.id)
    expect(stepsOf(view, trace.timeline.length, slope.id).backward).toBe(visits[0]!.step)
  })
})

test('a value that is infinite is trouble only where a finding stands', () => {
  const { trace, graph } = load('scalar_expression')
  const square = graph.boxes.find((box) => box.name === 'x ** 2')!
  const tensors = trace.tensors.map((tensor) => (tensor.id === square.tensor ? { ...tensor, data: ['-inf'] } : tensor))
  const finding = { code: 'first_nan_forward', severity: 'error' as const, nodes: [square.node!] }
  const troubleWith = (findings: Trace['findings']) =>
    new View({ ...trace, tensors, findings }, graph, words('en'), PAGE).at(trace.timeline.length).box(square.id).trouble
  expect([troubleWith([]), troubleWith([finding as Trace['findings'][number]])]).toEqual(['', 'nonfinite'])
})

test('a node that sends on what is not finite is trouble where a finding stands, and so is the leaf it ends in', () => {
  const { trace, graph } = load('scalar_expression')
  const node = graph.boxes.find((box) => box.name === 'x ** 2')!.node!
  const { visits, accumulations } = trace.passes[0]!
  const sent = visits.find((visit) => visit.node === node)!.left.find((id) => id != null)
  const bad = [sent, accumulations[0]!.after]
  const data = ['nan' as const]
  const tensors = trace.tensors.map((tensor) => (bad.includes(tensor.id) ? { ...tensor, data } : tensor))
  const finding = { code: 'root_at_zero', severity: 'warning' as const, nodes: [node] }
  const told = (findings: Trace['findings'], back = 0) => {
    const view = new View({ ...trace, tensors, findings }, graph, words('en'), PAGE)
    const moment = view.at(trace.timeline.length - back)
    return ['x ** 2', 'x', 'y'].map((name) => moment.box(boxNamed(view, name)).trouble)
  }
  expect(told([])).toEqual(['', '', ''])
  expect(told([finding as Trace['findings'][number]])).toEqual(['nonfinite', 'nonfinite', ''])
  expect(told([finding as Trace['findings'][number]], trace.timeline.length)).toEqual(['', '', ''])
})

test('an op that fails is where the forward run is, and no gradient', () => {
  const { trace, graph } = load('scalar_expression')
  const { id, op } = graph.boxes.find((box) => box.name === 'x ** 2')!
  const timeline = [...trace.timeline.slice(0, 2), { kind: 'failure' as const, op: op! }]
  const end = new View({ ...trace, timeline, passes: [] }, graph, words('en'), PAGE)
  expect(end.at(3).progress(id)).toBe('forward')
  expect(stepsOf(end, 3, id)).toMatchObject({ backward: 0, now: 0 })
})

test.each(NAMES)('every node that %s visits is in a box, its own or that of its layer, which is lit', (name) => {
  const view = viewOf(name)
  view.story.index.trace.timeline.forEach((event, at) => {
    if (event.kind !== 'visit' || !view.sheet.graph.passes!.includes(event.pass!)) return
    const { currentBox, progress } = view.at(at + 1)
    expect(currentBox, `step ${at + 1}`).not.toBeNull()
    expect(progress(currentBox!)).toBe('current')
  })
})

test('a box is lit for a node inside it, and its own sum is not', () => {
  const view = viewOf('attention')
  const layer = [...view.sheet.boxes.values()].find((box) => box.folded?.length)!
  const { index } = view.story
  const visited = (node: string) => index.visitsOfNode.get(node)![0]!
  for (const node of [...layer.folded!, ...layer.parameters!.flatMap((one) => one.node ?? [])]) {
    const moment = view.at(visited(node).step)
    expect(moment.currentBox).toBe(layer.id)
    expect(stepsOf(view, moment.step, layer.id).inStrip).toBe(false)
  }
})

test('a folded group of leaves shows the number of none of them', () => {
  const { sheet, story } = viewOf('scalar_expression')
  const boxes = [...sheet.boxes.values()]
  const [leaf, op] = [boxes.find(({ kind }) => kind === 'leaf')!, boxes.find(({ kind }) => kind === 'op')!]
  const shown = (inside: readonly Box[], node = inside.at(-1)!.node) =>
    groupLife(inside, node, story.lives, () => false).last
  expect(shown([leaf])).toBeUndefined()
  expect(shown([leaf, op])).toBe(op)
})

test('a folded group is current at every step of the module that runs in it', () => {
  const view = viewOf('attention')
  const { timeline } = view.story.index.trace
  const steps = timeline.flatMap(({ kind }, at) => (kind === 'call' || kind === 'call_end' ? [at + 1] : []))
  const [group] = view.sheet.groups.values()
  expect(steps.length).toBeGreaterThan(0)
  expect(steps.map((step) => view.at(step).group(group!).progress)).toEqual(steps.map(() => 'forward'))
  expect(view.at(steps[0]!).currentBox).toBeNull()
})

test('the gradients of a leaf are its .grad after the pass too, for the range of the tint', () => {
  const view = viewOf('accumulation')
  const { accumulations } = view.story.index.trace.passes[0]!
  const leaf = [...view.sheet.boxes.values()].find((box) => box.node === accumulations[0]!.node)!
  const shown = view.measure.story.gradientsEntering(leaf.id).map(({ id }) => id)
  const own = view.story.index.trace.passes.flatMap(({ accumulations }) => accumulations)
    .filter(({ node }) => node === leaf.node)
  expect(shown).toEqual([own.at(-1)!.after, own.at(-1)!.delta])
})
