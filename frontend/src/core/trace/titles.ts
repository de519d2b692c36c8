// What the rows of the ledger are called.

import type { Account } from './history'

/** Leaves of one name, as of two calls of a function, are numbered: `w`, `w #2`. */
export function titlesOf(accounts: readonly Account[]): ReadonlyMap<Account, string> {
  const met = new Map<string, number>()
  return new Map(accounts.map((account) => {
    const n = (met.get(account.name) ?? 0) + 1
    met.set(account.name, n)
    return [account, n > 1 ? `${account.name} #${n}` : account.name]
  }))
}
