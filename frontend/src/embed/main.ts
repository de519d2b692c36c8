// Starts the embed: graph and player of a stored run, in a frame on a course page.

import { mount } from 'svelte'
import '../app/shell/base.css'
import { openedSnapshot } from '../app/state/share'
import Embed from './Embed.svelte'
import { embedOptions } from './options'
import { ServerSource } from './server-source'

const target = document.getElementById('embed')
const snapshot = openedSnapshot(location.pathname, document)
const options = embedOptions(location.pathname, location.search, navigator.language, snapshot)
const source = new ServerSource(options.run ?? '')
/** Where the operator lets this page's readers run programs, and the frame has an origin: without one nothing could be
 *  asked of the server. */
const isEditable = options.mode === 'edit' && document.querySelector('meta[name="gradgraph-edit"]') && origin !== 'null'
const edit = isEditable ? () => import('./Edit.svelte') : undefined
void source
  .words(options.lang, false)
  .then((spoken) => target && mount(Embed, { target, props: { options, source, spoken, edit } }))
