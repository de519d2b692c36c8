// The page in light or dark: its colours, where the style sheets of every panel read them, and what pictures are in.

import { TOKENS, type Shade } from '../../core/paint/colour'
import type { Theme } from '../../core/state'

let shade = $state<Shade>('light')

/** As the page is painted. */
export const page = {
  get shade(): Shade {
    return shade
  },
}

/** Paints the page as a theme says, and anew when the reader's system changes; the answer stops that. */
export function paintPage(theme: Theme): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  function paint(): void {
    shade = theme !== 'auto' ? theme : dark.matches ? 'dark' : 'light'
    document.documentElement.dataset.theme = shade
    if (!colours) document.adoptedStyleSheets.push((colours = new CSSStyleSheet()))
    colours.replaceSync(`${rootOf('light')}@media screen{${rootOf(shade)}}`)
  }
  paint()
  dark.addEventListener('change', paint)
  return () => dark.removeEventListener('change', paint)
}

let colours: CSSStyleSheet | undefined

/** Paper is light. */
function rootOf(shade: Shade): string {
  return `:root{${Object.entries(TOKENS[shade]).map(([name, colour]) => `--${name}:${colour}`).join(';')}}`
}
