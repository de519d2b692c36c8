// /embed.mjs: the player of runs that ask nothing.

import { player } from './playing'

export const mount = player()
