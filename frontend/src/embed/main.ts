// Starts the embed: graph and player of a stored run, in a frame on a course page.

import { mount } from 'svelte'
import '../app/shell/base.css'
import { openedSnapshot } from '../app/state/share'
import { loadWords } from '../core/words/lexicon'
import Embed from './Embed.svelte'
import { embedOptions } from './options'

const target = document.getElementById('embed')
const snapshot = openedSnapshot(location.pathname, document)
const options = embedOptions(location.pathname, location.search, navigator.language, snapshot)
void loadWords(options.lang, false).then((spoken) => target && mount(Embed, { target, props: { options, spoken } }))
