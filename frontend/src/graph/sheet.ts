// Puts the scene's style sheet on the page once; it follows the colours on the root, so a theme change costs nothing.

import { TOKENS, type Tokens } from '../core/paint/colour'
import { styleSheet } from '../core/paint/style'

let adopted = false

export function adoptSceneStyles(): void {
  if (adopted) return
  adopted = true
  const variables = Object.fromEntries(
    Object.keys(TOKENS.light).map((name) => [name, `var(--${name})`]),
  ) as unknown as Tokens
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(styleSheet('.gg-scene', variables, { mono: 'var(--mono)', ui: 'var(--ui)' }))
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
}
