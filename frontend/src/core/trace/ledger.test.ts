import { expect, test } from 'vitest'
import type { Trace } from '../../api/types'
import { load } from '../fixtures/load'
import { History } from './history'
import { around, grouped, LedgerTable, nameWithin } from './ledger'
import { brief } from './naming'
import { summandsAt } from './summands'
import { titlesOf } from './titles'
import { TraceIndex } from './trace-index'

function table(trace: Trace): { table: LedgerTable; text: (id: string | null) => string } {
  const index = new TraceIndex(trace)
  return { table: new LedgerTable(new History(index)), text: (id) => (id ? brief(index.tensor(id)!) : 'None') }
}

test('passes and resets stand across in their order, and what was left over is told', () => {
  const { table: ledger, text } = table(load('accumulation').trace)
  expect(ledger.columns.map(({ kind }) => kind)).toEqual(['pass', 'pass', 'reset', 'pass'])
  const [w] = ledger.groups[0]!.accounts
  const cells = ledger.columns.map((column) => ledger.cell(w!, column)!)
  expect(cells.map(({ left, after }) => [left && text(left), text(after)])).toEqual([
    [null, '[2, −4]'], ['[2, −4]', '[5, −1]'], [null, '[0, 0]'], [null, '[3, 3]'],
  ])
})

test('a leaf says None after the passes that did not reach it, where that is known', () => {
  const { trace } = load('accumulation')
  const leaf = { ...trace.tensors.find(({ id }) => id === 't1')!, id: 't900', names: ['v'] }
  /** `w` is reached by the first pass and reset, `v` by the others. */
  const nones = (before: string | null, gapAt = 0): boolean[][] => {
    const timeline = gapAt ? trace.timeline.toSpliced(gapAt, 0, { kind: 'gap', index: 0 }) : trace.timeline
    const { table: ledger } = table({
      ...trace, timeline, gaps: [{ ops: 0, passes: 1 }], tensors: [...trace.tensors, leaf],
      passes: trace.passes.map((pass, at) => (at === 0 ? pass : {
        ...pass, accumulations: pass.accumulations.map((one) => ({ ...one, tensor: 't900', before })),
      })),
      updates: trace.updates.map((update) => ({
        ...update, changes: update.changes.map((change) => ({ ...change, after: null })),
      })),
    })
    return ledger.groups[0]!.accounts.map((one) => ledger.columns.map((column) => ledger.isNone(one, column)))
  }
  expect(nones(null)).toEqual([[false, false, false, true], [true, false, false, false]])
  expect(nones('t7')[1]).toEqual([false, false, false, false])
  expect(nones(null, 24)[0]).toEqual([false, false, false, false])
  expect(nones(null, 4)[1]).toEqual([false, false, false, false])
})

test('a gradient that the program changes itself, as by clipping, is not reset: what passes added stays told', () => {
  const { trace } = load('accumulation')
  const updates = trace.updates.map((update) => ({ ...update, kind: 'grad_set' as const }))
  const history = new History(new TraceIndex({ ...trace, updates }))
  const ledger = new LedgerTable(history)
  expect(ledger.columns.map(({ kind }) => kind)).toEqual(['pass', 'pass', 'changed', 'pass'])
  const [w] = history.accounts
  const { added, changed, reset } = summandsAt(history, w!.leaf, trace.timeline.length)
  expect([added.length, changed.length, reset]).toEqual([3, 1, null])
})

test('what passes added before a reset is told while nothing comes after it', () => {
  const history = new History(new TraceIndex(load('accumulation').trace))
  const [w] = history.accounts
  const [reset] = w!.entries.filter(({ kind }) => kind === 'reset')
  const at = (step: number): unknown => {
    const { added, isCleared } = summandsAt(history, w!.leaf, step)
    return [added.length, isCleared]
  }
  const end = history.index.trace.timeline.length
  expect([reset!.step - 1, reset!.step, end].map(at)).toEqual([[2, false], [0, false], [1, false]])
  Object.assign(w!, { entries: w!.entries.slice(0, w!.entries.indexOf(reset!) + 1) })
  expect(at(reset!.step)).toEqual([2, true])
})

test('a clipping that leaves a gradient as it was is no change', () => {
  const { trace } = load('accumulation')
  const before = trace.updates[0]!.changes[0]!.before!
  const kept = trace.tensors.find(({ id }) => id === before)!
  const large = { data: null, summary: { min: 0, max: 1, mean: 0.5, norm: 2, nan: 0, inf: 0, zeros: 0 } }
  for (const [was, is, kinds] of [
    [{}, {}, ['pass', 'pass', 'pass']], [{}, { data: [0, 1] }, ['pass', 'pass', 'changed', 'pass']],
    [large, large, ['pass', 'pass', 'pass']], [{ data: null }, { data: null }, ['pass', 'pass', 'changed', 'pass']],
  ] as const) {
    const others = trace.tensors.map((one) => (one === kept ? { ...one, ...was } : one))
    const tensors = [...others, { ...kept, ...is, id: 't900' }]
    const updates = trace.updates.map((update) => ({
      ...update, kind: 'grad_set' as const, changes: update.changes.map((change) => ({ ...change, after: 't900' })),
    }))
    const { accounts } = new History(new TraceIndex({ ...trace, tensors, updates } as Trace))
    expect(accounts[0]!.entries.map(({ kind }) => kind)).toEqual(kinds)
  }
})

test('leaves stand under their modules, and an optimizer step marks those it changed', () => {
  const lessons = import.meta.glob<Trace>('../../../../gallery/mlp_training.json', { eager: true, import: 'default' })
  const { table: ledger } = table({ ...Object.values(lessons)[0]!, program: { code: '' } })
  for (const { module, accounts } of ledger.groups)
    for (const { name } of accounts) expect(name.startsWith(module)).toBe(true)
  const step = ledger.columns.find(({ kind }) => kind === 'step')!
  for (const { accounts } of ledger.groups)
    for (const account of accounts) expect(ledger.isStepped(account, step)).toBe(true)
  const left = ledger.groups.flatMap(({ accounts }) =>
    accounts.flatMap((account) => ledger.columns.map((column) => ledger.cell(account, column)?.left ?? null)),
  )
  expect(new Set(left)).toEqual(new Set([null]))
})

test('a deep model is grouped by its blocks, a small one by its modules', () => {
  const blocks = Array.from({ length: 12 }, (_, at) =>
    ['attn.qkv', 'attn.proj', 'mlp.0', 'mlp.2'].map((module) => `gpt.blocks.${at}.${module}.weight`),
  ).flat()
  const accounts = [...blocks, 'gpt.head.weight', 'scale'].map((name) => ({ leaf: name, name, entries: [] }))
  const groups = grouped(accounts)
  expect(groups).toHaveLength(14)
  expect(groups[3]!.accounts.map(({ name }) => nameWithin(groups[3]!.module, name))).toContain('attn.qkv.weight')
  expect(groups.at(-1)).toMatchObject({ module: '', accounts: [{ name: 'scale' }] })
  expect(grouped(accounts.slice(0, 4)).map(({ module }) => module)).toContain('gpt.blocks.0.mlp.2')
})

test('numbers in nested lists are grouped by the list they stand in', () => {
  const accounts = [0, 1, 2, 3].map((at) => ({ leaf: `t${at}`, name: `net[${at >> 1}].w[${at & 1}]`, entries: [] }))
  expect(grouped(accounts).map(({ module }) => module)).toEqual(['net[0].w', 'net[1].w'])
  expect(nameWithin('net[0].w', 'net[0].w[1]')).toBe('[1]')
})

test('of many columns those around the step are kept', () => {
  const all = Array.from({ length: 100 }, (_, step) => ({ step }))
  expect(around(all, 0, 10)[0]).toEqual({ step: 0 })
  expect(around(all, 50, 10).map(({ step }) => step)).toContain(50)
  expect(around(all, 99, 10).at(-1)).toEqual({ step: 99 })
})

test('no two rows of the ledger have one name', () => {
  const accounts = ['w', 'b', 'w', 'w'].map((name, at) => ({ leaf: `t${at}`, name, entries: [] }))
  expect([...titlesOf(accounts).values()]).toEqual(['w', 'b', 'w #2', 'w #3'])
})
