// Puts a theme's colours on the page, where the style sheets of every panel read them.

import { TOKENS, type Shade } from '../../core/paint/colour'
import type { Theme } from '../../core/state'

const darkWanted = '(prefers-color-scheme: dark)'

export function shadeOf(theme: Theme): Shade {
  if (theme !== 'auto') return theme
  return matchMedia(darkWanted).matches ? 'dark' : 'light'
}

let colours: CSSStyleSheet | undefined

/** Paper is light. */
export function applyShade(shade: Shade): void {
  document.documentElement.dataset.theme = shade
  if (!colours) document.adoptedStyleSheets.push((colours = new CSSStyleSheet()))
  colours.replaceSync(`${rootOf('light')}@media screen{${rootOf(shade)}}`)
}

function rootOf(shade: Shade): string {
  return `:root{${Object.entries(TOKENS[shade]).map(([name, colour]) => `--${name}:${colour}`).join(';')}}`
}

/** Calls back when the reader's system changes between light and dark; the answer stops that. */
export function onSystemShade(changed: () => void): () => void {
  const query = matchMedia(darkWanted)
  query.addEventListener('change', changed)
  return () => query.removeEventListener('change', changed)
}
