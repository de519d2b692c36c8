// The routes that keep a run as it is looked at, and give it up.

import type { KeptView } from '../core/address'
import type { Lang } from '../core/state'
import { ask, json, Problem } from './client'

/** A snapshot of this browser; the token deletes it. */
export interface Made {
  id: string
  token: string
}

/** Keeps a run, or another snapshot, as it is looked at. */
export function keepSnapshot(run: string, view: KeptView, lang: Lang): Promise<Made> {
  const headers = { 'Content-Type': 'application/json' }
  return json('/api/v1/snapshots', lang, { method: 'POST', headers, body: JSON.stringify({ run, view }) })
}

/** Gives a snapshot up; whether it was still kept for this owner. */
export async function releaseSnapshot({ id, token }: Made, lang: Lang): Promise<boolean> {
  const init = { method: 'DELETE', headers: { 'Owner-Token': token } }
  try {
    await ask(`/api/v1/snapshots/${id}`, init, lang)
    return true
  } catch (error) {
    if (error instanceof Problem && (error.status === 403 || error.status === 404)) return false
    throw error
  }
}
