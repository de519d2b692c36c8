// The norm of what each pass added to the gradients of each layer: where gradients vanish or explode is seen by row.

import type { History } from './history'
import { grouped, normOver } from './ledger'
import { push } from './trace-index'
import type { Point } from './training'

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

/** Leaves outside of modules are layers of their own. */
export function layerNormsOf({ index, accounts }: History, curve: readonly Point[]): LayerNorms {
  const moments = curve.flatMap(({ number, pass }): Moment[] =>
    pass === null ? [] : [{ number, pass, step: Math.min(index.trace.timeline.length, index.passEnd(pass)) }],
  )
  const received = accounts.filter(({ entries }) => entries.some(({ kind }) => kind === 'pass'))
  const layers = grouped(received).flatMap(({ module, accounts }) =>
    module ? [{ name: module, accounts }] : accounts.map((account) => ({ name: account.name, accounts: [account] })),
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
