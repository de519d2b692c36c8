// The embed that plays.

import { start } from './start'

start()
