// Puts a theme's colours on the page's root, where the style sheets of every panel read them.

import { TOKENS, type Shade } from '../../core/paint/colour'
import type { Theme } from '../../core/state'

const darkWanted = '(prefers-color-scheme: dark)'

export function shadeOf(theme: Theme): Shade {
  if (theme !== 'auto') return theme
  return matchMedia(darkWanted).matches ? 'dark' : 'light'
}

export function applyShade(shade: Shade): void {
  const root = document.documentElement
  root.dataset.theme = shade
  for (const [name, colour] of Object.entries(TOKENS[shade])) root.style.setProperty(`--${name}`, colour)
}

/** Calls back when the reader's system changes between light and dark; the answer stops that. */
export function onSystemShade(changed: () => void): () => void {
  const query = matchMedia(darkWanted)
  query.addEventListener('change', changed)
  return () => query.removeEventListener('change', changed)
}
