// The norm of what each pass added to the gradients of each layer: where gradients vanish or explode is seen by row.

import type { Account, History } from './history'
import { grouped, normOver } from './ledger'
import { push } from './trace-index'
import { titlesOf } from './titles'
import { coursesOf, type Point } from './training'

/** A pass that can be looked at. */
export interface Moment {
  number: number
  pass: string
  /** That ends the pass. */
  step: number
}

export interface Layer {
  name: string
  /** One for each moment; null where nothing came. */
  norms: readonly (number | null)[]
}

export interface LayerNorms {
  moments: readonly Moment[]
  layers: readonly Layer[]
}

/** Leaves outside of modules are layers of their own; those of one name are told apart by their optimizers, else
 *  numbered as in the ledger. */
export function layerNormsOf({ index, accounts }: History, curve: readonly Point[]): LayerNorms {
  const moments = curve.flatMap(({ number, pass }): Moment[] =>
    pass === null ? [] : [{ number, pass, step: Math.min(index.trace.timeline.length, index.passEnd(pass)) }],
  )
  const received = accounts.filter(({ entries }) => entries.some(({ kind }) => kind === 'pass'))
  const names = received.map(({ name }) => name)
  const isShared = (name: string): boolean => names.indexOf(name) < names.lastIndexOf(name)
  const owners = new Map(coursesOf(index).flatMap(({ label, parameters }) => parameters.map((leaf) => [leaf, label])))
  const titles = titlesOf(accounts)
  const nameOf = (account: Account): string => {
    const { leaf, name } = account
    const owner = isShared(name) ? owners.get(leaf) : undefined
    return owner ? `${owner} · ${name}` : titles.get(account)!
  }
  const layers = grouped(received).flatMap(({ module, accounts }) =>
    module ? [{ name: module, accounts }] : accounts.map((account) => ({ name: nameOf(account), accounts: [account] })),
  )
  return {
    moments,
    layers: layers.map(({ name, accounts }): Layer => {
      const added = new Map<string, string[]>()
      for (const entry of accounts.flatMap(({ entries }) => entries))
        if (entry.kind === 'pass' && entry.accumulation.delta != null)
          push(added, entry.pass.id, entry.accumulation.delta)
      return { name, norms: moments.map(({ pass }) => normOver((added.get(pass) ?? []).map((id) => index.tensor(id)))) }
    }),
  }
}
