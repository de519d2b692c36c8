// How a sentence of the word lists becomes text: values filled in, forms chosen by number, marks split off.

export type Values = Readonly<Record<string, string | number>>

/** Looks a sentence up and puts the values into it. A key that is unknown (a server newer than the page) comes back as
 *  itself. */
export interface Words {
  (key: string, values?: Values): string
  has(key: string): boolean
}

/** Fills `{name}` with a value and `{n|one|many}` with the form that fits the number, values in it too: English needs
 *  two, Chinese one. */
export function fill(sentence: string, values: Values = {}): string {
  return sentence.replace(
    /\{(\w+)(?:\|((?:{\w+}|[^|}])*)\|((?:{\w+}|[^}])*))?\}/g,
    (whole, name: string, one?: string, many?: string) => {
      const value = values[name]
      return value === undefined ? whole : `${one === undefined ? value : fill(+value === 1 ? one : many!, values)}`
    },
  )
}

export function wordsOf(list: Readonly<Record<string, string>>): Words {
  return Object.assign((key: string, values?: Values) => fill(list[key] ?? key, values), {
    has: (key: string) => key in list,
  })
}

export type Piece = { kind: 'text' | 'strong' | 'code'; text: string }

/** What a mark holds may be code with `*` and `**` in it: a mark opens before and closes after what is no space. */
const MARKS = /((?<![\w)\]])\*\*(?=\S).+?(?<=\S)\*\*(?![\w([])|`[^`]+`)/

/** Splits the two marks a sentence may carry, **strong** and `code`. */
export function pieces(sentence: string): Piece[] {
  const found: Piece[] = []
  for (const [at, part] of sentence.split(MARKS).entries()) {
    if (at % 2 && part.startsWith('**')) found.push({ kind: 'strong', text: part.slice(2, -2) })
    else if (at % 2) found.push({ kind: 'code', text: part.slice(1, -1) })
    else if (part !== '') found.push({ kind: 'text', text: part })
  }
  return found
}
