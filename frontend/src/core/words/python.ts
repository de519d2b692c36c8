// Python in three tones of ink for read-only listings: keywords, strings, comments, the rest.

export interface Token {
  text: string
  kind: 'plain' | 'keyword' | 'string' | 'comment'
}

const PATTERN =
  /(#.*)|((?:\b[rbfuRBFU]{1,2})?(?:"""|'''|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?))|\b(and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)\b/g

/** Each line's tokens. Triple-quoted strings run over lines. */
export function tokens(code: string): Token[][] {
  let open: string | null = null
  return code.split('\n').map((line) => {
    const found: Token[] = []
    let at = 0
    if (open) {
      const end = line.indexOf(open)
      if (end < 0) return [{ text: line, kind: 'string' }]
      at = end + 3
      found.push({ text: line.slice(0, at), kind: 'string' })
      open = null
    }
    PATTERN.lastIndex = at
    for (let match = PATTERN.exec(line); match; match = PATTERN.exec(line)) {
      if (match.index > at) found.push({ text: line.slice(at, match.index), kind: 'plain' })
      let text = match[0]
      const quote = text.slice(-3)
      if (match[2] && (quote === '"""' || quote === "'''")) {
        const end = line.indexOf(quote, match.index + text.length)
        text = end < 0 ? line.slice(match.index) : line.slice(match.index, end + 3)
        if (end < 0) open = quote
        PATTERN.lastIndex = match.index + text.length
      }
      found.push({ text, kind: match[1] ? 'comment' : match[2] ? 'string' : 'keyword' })
      at = match.index + text.length
    }
    if (at < line.length) found.push({ text: line.slice(at), kind: 'plain' })
    return found
  })
}
