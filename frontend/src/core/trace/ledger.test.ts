import { expect, test } from 'vitest'
import type { Trace } from '../../api/types'
import { load } from '../fixtures/load'
import { History } from './history'
import { LedgerTable } from './ledger'
import { brief } from './naming'
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
    [null, '[2, −4]'], ['[2, −4]', '[5, −1]'], [null, '0'], [null, '3'],
  ])
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
