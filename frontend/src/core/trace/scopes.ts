// Where the statements of a program stand: the same name in two functions means two things.

import { tokens } from '../words/python'

export interface Statement {
  line: number
  /** Line of the innermost `def` around it; 0 for none. */
  function: number
  /** Its names are the program's globals: neither a function nor a class is around it. */
  isGlobal: boolean
  /** The header of a loop. */
  isLoop: boolean
  /** Line of the outermost loop around it; 0 for none. */
  loop: number
  /** The code without strings and comments. */
  text: string
}

interface Block {
  indent: number
  kind: string
  line: number
}

const HEADER = /^\s*(?:async\s+)?(def|class|for|while)\b/
const LOOPS: ReadonlySet<string> = new Set(['for', 'while'])

/** The statements of a program by the lines they take; of a header such as `if x:` the header alone. */
export class Scopes {
  private readonly statements: Statement[] = []
  private readonly byLine: (Statement | undefined)[] = []

  constructor(code: string) {
    const blocks: Block[] = []
    let depth = 0
    let isContinued = false
    tokens(code).forEach((line, at) => {
      const bare = line.map(({ kind, text }) => (kind === 'string' ? '""' : kind === 'comment' ? '' : text)).join('')
      // the rest of a string over several lines begins in the first column
      const before = isContinued || bare.startsWith('""') ? this.statements.at(-1) : undefined
      if (before) {
        before.text += ` ${bare}`
      } else if (bare.trim()) {
        this.statements.push(begin(bare, at + 1, blocks))
      }
      this.byLine[at + 1] = before ?? (bare.trim() ? this.statements.at(-1) : undefined)
      for (const letter of bare) depth += '([{'.includes(letter) ? 1 : ')]}'.includes(letter) ? -1 : 0
      isContinued = depth > 0 || bare.trimEnd().endsWith('\\')
    })
  }

  at(line: number | undefined): Statement | undefined {
    return line === undefined ? undefined : this.byLine[line]
  }

  /** The statements that bind a global name; null when functions do too. */
  bindingsOf(name: string): Statement[] | null {
    if (this.statements.some(({ text }) => /^\s*global\b/.test(text) && mentions(text, name))) return null
    return this.statements.filter((statement) => statement.isGlobal && binds(statement, name))
  }

  /** Whether one statement gives a name its only meaning in any scope: nothing is an argument or an attribute of a
   *  class by that name, or runs through a list. */
  isBoundOnce(name: string): boolean {
    const others = this.statements.filter(({ text }) => OTHERWISE.test(text) && mentions(text, name))
    return others.length === 0 && this.statements.filter((statement) => binds(statement, name)).length === 1
  }
}

/** Binds names in its own ways. */
const OTHERWISE = /^\s*(?:(?:async\s+)?def|class|import|from|global|nonlocal|match|case)\b|\blambda\b|\S.*\bfor\b/

function begin(bare: string, line: number, blocks: Block[]): Statement {
  const indent = bare.length - bare.trimStart().length
  while (blocks.length > 0 && blocks.at(-1)!.indent >= indent) blocks.pop()
  const kind = HEADER.exec(bare)?.[1]
  const isLoop = kind !== undefined && LOOPS.has(kind)
  const isGlobal = blocks.every((block) => LOOPS.has(block.kind)) && (kind === undefined || isLoop)
  if (kind !== undefined) blocks.push({ indent, kind, line })
  return {
    line, isGlobal, isLoop, text: bare,
    function: blocks.findLast((block) => block.kind === 'def')?.line ?? 0,
    loop: blocks.find((block) => LOOPS.has(block.kind))?.line ?? 0,
  }
}

/** Whether a name stands in a text, by itself. */
export function mentions(text: string, name: string): boolean {
  return new RegExp(whole(name), 'u').test(text)
}

function whole(name: string): string {
  return `(?<![\\p{L}\\p{N}_.])${name}(?![\\p{L}\\p{N}_])`
}

/** Whether a statement gives a name a new meaning; `x[0] = 1` and `x.grad = g` do not. */
function binds(statement: Statement, name: string): boolean {
  const target = new RegExp(`${whole(name)}(?!\\s*[.[(])`, 'u')
  return target.test(targets(statement.text)) || new RegExp(`${whole(name)}\\s*:=`, 'u').test(statement.text)
}

/** The parts of a statement that name what it binds, or unbinds. */
function targets(text: string): string {
  const loop = /^\s*(?:async\s+)?for\b(.*?)\bin\b/.exec(text)?.[1] ?? ''
  const deleted = /^\s*del\b(.*)/.exec(text)?.[1] ?? ''
  const given = [...text.matchAll(/\bas\s+([^:,]+)/g)].map((match) => match[1])
  return [loop, deleted, ...given, text.slice(0, Math.max(0, lastAssignment(text)))].join(' ')
}

/** Where the last `=` of an assignment is; -1 for none. */
function lastAssignment(text: string): number {
  let depth = 0
  let found = -1
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at]!
    if ('([{'.includes(letter)) depth += 1
    else if (')]}'.includes(letter)) depth -= 1
    else if (letter === '=' && depth === 0 && text[at + 1] !== '=' && !'=!<>:'.includes(text[at - 1] ?? '')) found = at
  }
  return found
}
