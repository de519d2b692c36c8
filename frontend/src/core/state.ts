// The one view state: everything on screen is a function of (trace, graph, view state), and it lives in the address.

export type Lang = 'zh' | 'en'
export type Theme = 'light' | 'dark' | 'auto'
export type Level = 'autograd' | 'forward' | 'both'
export const PANELS = [
  'ledger', 'memory', 'training', 'engine', 'storage', 'checks', 'jacobian', 'calls', 'text', 'compare',
] as const
export type Panel = (typeof PANELS)[number]
/** Runs that can stand beside the one on screen. */
export const MOST_BESIDE = 2

/** What is selected: a box of the graph (node, op or tensor id), an edge, a group, or a line of the program. */
export type Selection =
  | { kind: 'box'; id: string }
  | { kind: 'edge'; id: string }
  | { kind: 'group'; id: string }
  | { kind: 'line'; line: number }

export interface ViewState {
  /** Run whose trace is shown. */
  run: string | null
  /** Gallery program it came from. */
  lesson: string | null
  /** How many steps of the timeline have happened: 0 = nothing yet, timeline.length = the end. */
  step: number
  selection: Selection | null
  /** Group ids that are open; null = the opening choice (at most 30 boxes). */
  expanded: ReadonlySet<string> | null
  level: Level
  /** Node id of the chosen root; null = the default. */
  root: string | null
  /** Chosen pass; null = the default. */
  pass: string | null
  /** The panel open under the graph. */
  panel: Panel | null
  /** Runs that the panel `compare` puts beside this one. */
  beside: readonly string[]
  lang: Lang
  theme: Theme
}
