// The layout code for a file that holds its run, where that has groups to open.

import { layout } from '../core/layout/layout'

globalThis.gradgraphPlace = layout
