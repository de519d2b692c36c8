// Where the statements of a program stand: the same name in two functions means two things.

import { tokens } from '../words/python'

export interface Statement {
  line: number
  endLine: number
  /** Line of the innermost `def` around it; 0 for none. */
  function: number
  /** Its names are the program's globals: neither a function nor a class is around it. */
  isGlobal: boolean
  /** The code without strings and comments. */
  text: string
}

interface Block {
  indent: number
  kind: 'def' | 'class'
  line: number
}

const HEADER = /^\s*(?:async\s+)?(def|class)\b/

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
        before.endLine = at + 1
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

  /** The statements that bind a global name. */
  bindingsOf(name: string): Statement[] {
    return this.statements.filter((statement) => statement.isGlobal && binds(statement, name))
  }
}

function begin(bare: string, line: number, blocks: Block[]): Statement {
  const indent = bare.length - bare.trimStart().length
  while (blocks.length > 0 && blocks.at(-1)!.indent >= indent) blocks.pop()
  const header = HEADER.exec(bare)?.[1] as Block['kind'] | undefined
  const isGlobal = blocks.length === 0 && header === undefined
  if (header) blocks.push({ indent, kind: header, line })
  const around = blocks.findLast((block) => block.kind === 'def')
  return { line, endLine: line, function: around?.line ?? 0, isGlobal, text: bare }
}

/** Whether a statement gives a name a new meaning; `x[0] = 1` and `x.grad = g` do not. */
export function binds(statement: Statement, name: string): boolean {
  const whole = `(?<![\\p{L}\\p{N}_.])${name}(?![\\p{L}\\p{N}_])`
  const target = new RegExp(`${whole}(?!\\s*[.[(])`, 'u')
  return target.test(targets(statement.text)) || new RegExp(`${whole}\\s*:=`, 'u').test(statement.text)
}

/** The part of a statement that names what it binds. */
function targets(text: string): string {
  const loop = /^\s*(?:async\s+)?for\b(.*?)\bin\b/.exec(text)
  if (loop) return loop[1]!
  const given = [...text.matchAll(/\bas\s+([^:,]+)/g)].map((match) => match[1])
  if (given.length > 0) return given.join(' ')
  return text.slice(0, Math.max(0, lastAssignment(text)))
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
