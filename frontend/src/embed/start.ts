// Starts an embed: graph and player of a stored run, in a frame on a course page.

import { mount, type ComponentProps } from 'svelte'
import '../app/shell/base.css'
import { openedSnapshot } from '../app/state/opened-snapshot'
import type { Lang } from '../core/state'
import type { Asking } from './asking'
import Embed from './Embed.svelte'
import { embedOptions } from './options'
import { ServerSource } from './server-source'
import type { Telling } from './telling'

async function ask(): Promise<Asking> {
  return new (await import('./asking')).Asking()
}

async function tell(name: string, lang: Lang): Promise<Telling> {
  return (await import('./telling')).telling(name, lang)
}

/** `Edit`: what lets the reader change the program. */
export function start(Edit?: ComponentProps<typeof Embed>['Edit']): void {
  const target = document.getElementById('embed')
  const snapshot = openedSnapshot(location.pathname, document)
  const options = embedOptions(location.pathname, location.search, navigator.language, snapshot)
  const source = new ServerSource(options.run ?? '')
  void source
    .words(options.lang, false)
    .then((spoken) => target && mount(Embed, { target, props: { options, source, spoken, Edit, ask, tell } }))
}
