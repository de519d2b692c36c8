// What the editor shows on and beside the program's lines at one step.

import type { Span } from '../../api/types'

export interface SpanMark {
  span: Span
  kind: 'gradient' | 'selected' | 'failed' | 'finding'
}

/** A diagnosis that opens under its line. */
export interface LineBlock {
  line: number
  title: string
  /** What the button says that opens the diagnosis; empty where there is none. */
  action: string
  /** What the button says that applies the fix; empty when there is no certain one. */
  fix: string
  index: number
  /** It is true no more, and its room stays as long as no line may move. */
  isOver?: boolean
}

/** How the lines of the program stand at a step. */
export interface LineMarks {
  done: ReadonlySet<number>
  running: number | null
  next: number | null
  gradient: number | null
  failed: number | null
  found: ReadonlySet<number>
  /** Lines whose statement never ran in the whole run. */
  idle: ReadonlySet<number>
  /** Lines whose operations ran with recording off. */
  unrecorded: ReadonlySet<number>
  /** Lines lit because their boxes are hovered in the graph. */
  lit: ReadonlySet<number>
  /** What the signs mean, for their tooltips. */
  words: {
    running: string
    next: string
    gradient: string
    failed: string
    done: string
    found: string
    idle: string
    unrecorded: string
  }
}

export interface Marks extends LineMarks {
  notes: ReadonlyMap<number, string>
  spans: readonly SpanMark[]
  blocks: readonly LineBlock[]
}

export type Sign = 'failed' | 'found' | 'gradient' | 'running' | 'next' | 'idle' | 'done'

/** The one sign a line carries: what is wrong first, then where the gradient is, then where the program is. */
export function signOf(marks: LineMarks, line: number): Sign | null {
  if (marks.failed === line) return 'failed'
  if (marks.found.has(line)) return 'found'
  if (marks.gradient === line) return 'gradient'
  if (marks.running === line) return 'running'
  if (marks.next === line) return 'next'
  if (marks.idle.has(line)) return 'idle'
  return marks.done.has(line) ? 'done' : null
}
