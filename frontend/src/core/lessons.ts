// What lessons say: paragraphs in pieces.

export interface Piece {
  kind: 'text' | 'code' | 'math' | 'phrase' | 'term'
  /** Its words; of a formula the LaTeX. */
  text: string
  /** What a phrase speaks of: a name or code of the program, or the type of a node. */
  at?: string
  /** Of a term its meaning, of a formula its MathML. */
  says?: string
}

/** A full stop in a number ends no sentence. */
const END = /^.*?(?:。|[.!?](?=\s|$))/su

/** The first sentence of the first paragraph. */
export function firstSentence([pieces = []]: readonly (readonly Piece[])[]): Piece[] {
  const found: Piece[] = []
  for (const piece of pieces) {
    const end = piece.kind === 'text' ? END.exec(piece.text)?.[0] : undefined
    found.push(end === undefined ? piece : { ...piece, text: end })
    if (end !== undefined) break
  }
  return found
}
