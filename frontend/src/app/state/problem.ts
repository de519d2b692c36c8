// What went wrong with a request, in a sentence for the reader.

import { Problem } from '../../api/client'
import type { Words } from '../../core/words/sentences'

export function problemText(error: unknown, t: Words): string {
  if (!(error instanceof Problem))
    return t('problem.view', { message: error instanceof Error ? error.message : String(error) })
  return error.kind === 'network'
    ? t('problem.network')
    : error.sentence || t('problem.unreadable', { status: error.status })
}
