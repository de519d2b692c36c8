// What the browser remembers between visits. A sandboxed frame or a private window may refuse: then nothing is remembered.

export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(`gradgraph.${key}`)
  } catch {
    return null
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(`gradgraph.${key}`, value)
  } catch {
    // Refused storage only costs the reader a choice they can make again.
  }
}
