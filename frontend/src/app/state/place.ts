// Where a run that is under way stands, and how that is told.

import * as api from '../../api/client'
import type { RunLimits } from '../../api/types'
import type { Lang } from '../../core/state'
import type { Words } from '../../core/words/sentences'

/** Before a run is told of as under way. */
export const SHOW_RUNNING_MS = 300
const LOOK_AGAIN_MS = 500

/** Looks now and then where the newest run stands, as long as it is wanted. */
export async function followPlace(
  lang: Lang, signal: AbortSignal, isWanted: () => boolean, tell: (place: api.Place) => void,
): Promise<void> {
  try {
    while (isWanted()) {
      const place = await api.place(lang, signal)
      if (!place || !isWanted()) return
      tell(place)
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
    }
  } catch {
    // The run itself says what is wrong, or is over by now.
  }
}

/** How many are ahead, then which line it is at. */
export function placeText(place: api.Place | null, t: Words): string {
  if (place?.state === 'waiting' && place.ahead > 0)
    return t('state.waiting', { n: place.ahead, s: Math.max(1, Math.ceil(place.expected_s)) })
  if (place?.state === 'running' && place.line > 0)
    return t('state.at', { line: place.line, s: Math.floor(place.elapsed_s), ops: place.ops })
  return t('state.running')
}

/** The same, and once as much is recorded as may be, that the program goes on. What it waits for a processor that
 *  others hold does not count towards its limit. */
export function runText(place: api.Place | null, t: Words, limits: RunLimits | undefined): string {
  if (place?.state !== 'running' || !limits || place.ops < limits.ops) return placeText(place, t)
  const [s, most] = [Math.floor(place.elapsed_s), limits.wall_s]
  return t('state.full', { line: place.line, s: Math.min(s, most), ops: place.ops, most, late: Number(s >= most) })
}
