// /embed-questions.mjs: the player with what asks its reader, for programs that do.

import { Asking } from './asking'
import { player } from './playing'

export const mount = player(() => Promise.resolve(new Asking()))
