// Who says where everything on a view goes: the page itself, or for an embed its server.

import type { Layout } from '../core/layout/geometry'
import type { View } from '../core/paint/view'

export type Answer = { id: number; layout: Layout } | { id: number; failure: string }

export interface Layouts {
  /** The layout of the newest view asked for, without a choice of groups as it opens; a failure; or null when a newer
   *  question came meanwhile. */
  of(view: View, expanded: ReadonlySet<string> | null): Promise<Answer | null>
  close(): void
}
