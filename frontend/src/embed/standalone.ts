// Starts the embed in a file that holds its run (server/standalone.py): with no server, in any sandbox.

import { mount } from 'svelte'
import '../app/shell/base.css'
import Embed from './Embed.svelte'
import { InlineSource, type Inline } from './inline'
import { embedOptions } from './options'

const target = document.getElementById('embed')
const given = JSON.parse(document.getElementById('run')?.textContent ?? '') as Inline
const query = new URLSearchParams({ ...given.opens, ...Object.fromEntries(new URLSearchParams(location.search)) })
const options = embedOptions('', `?${query.toString()}`, navigator.language, null)
const source = new InlineSource(given)
void source.words(options.lang).then((spoken) => target && mount(Embed, { target, props: { options, source, spoken } }))
