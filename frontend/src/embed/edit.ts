// The embed whose reader may change the program and run it: a page of its own, for the editor is larger than the rest.

import Edit from './Edit.svelte'
import { start } from './start'

start(origin === 'null' ? undefined : Edit) // a frame without an origin could ask nothing of the server
