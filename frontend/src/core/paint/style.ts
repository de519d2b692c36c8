// The look of every class the scene uses, as CSS made from the tokens: one sheet for page, embed and static SVG.

import type { Tokens } from './colour'

interface Fonts {
  mono: string
  ui: string
}

/** CSS for all classes of the scene under one root selector. */
export function styleSheet(root: string, t: Tokens, fonts: Fonts): string {
  return Object.entries(rules(t, fonts))
    .map(([names, declarations]) => {
      const selectors = names.split(',').map((name) => `${root} .${name}`)
      return `${selectors.join(',')}{${declarations}}`
    })
    .join('\n')
}

function rules(t: Tokens, fonts: Fonts): Record<string, string> {
  const line = (colour: string, width: number, more = '') => `fill:none;stroke:${colour};stroke-width:${width};${more}`
  const text = (colour: string, size: number, more = '') =>
    `font-family:${fonts.mono};font-size:${size}px;fill:${colour};white-space:pre;${more}`
  const ui = (colour: string, size: number, more = '') =>
    `font-family:${fonts.ui};font-size:${size}px;fill:${colour};${more}`
  const dash = 'stroke-dasharray:1.5 3;'
  return {
    // boxes
    body: `fill:${t.panel};stroke:none`,
    'o-future,o-waiting': line(t.line2, 1),
    'o-forward': line(t.ink, 2),
    'o-current': line(t.grad, 2),
    'o-visited': line(t.gradline, 1),
    'o-ghost': line(t.line2, 1, 'stroke-dasharray:4 3;'),
    'o-trouble': line(t.err, 2),
    'sheet,capsule-waiting': `fill:${t.panel};stroke:${t.line2};stroke-width:1`,
    frame: `fill:${t.sunken};stroke:${t.line2};stroke-width:1`,
    'cap,pill-solid,head-current': `fill:${t.ink};stroke:none`,
    hair: line(t.line, 1),
    'hair-ghost': line(t.line2, 1, 'stroke-dasharray:2 3;'),
    hit: 'fill:transparent;stroke:none',
    ring: line(t.ink, 1.75),
    'ring-hover': line(t.ink3, 1, 'stroke-dasharray:1.5 2.5;stroke-linecap:round;'),
    icon: line(t.ink, 1.4, 'stroke-linecap:round;stroke-linejoin:round;'),
    'icon-ghost': line(t.ink3, 1.4, 'stroke-linecap:round;stroke-linejoin:round;'),
    'icon-grad': line(t.grad, 1.4, 'stroke-linecap:round;stroke-linejoin:round;'),
    'icon-err': line(t.err, 1.4, 'stroke-linecap:round;stroke-linejoin:round;'),
    title: text(t.ink, 11.5, 'font-weight:700'),
    'title-ghost,name-ghost,aside,strip-label': text(t.ink3, 11.5),
    'name,stub-text,shape,call': text(t.ink2, 11.5),
    role: ui(t.ink2, 11.5),
    // cells
    value: text(t.ink, 11),
    'value-ghost,tag': text(t.ink2, 11),
    gradient: text(t.grad, 11),
    scalar: text(t.ink, 12.5),
    'scalar-ghost': text(t.ink2, 12.5),
    'scalar-grad': text(t.grad, 12.5),
    bracket: line(t.ink, 1.1),
    'bracket-ghost': line(t.ink3, 1.1),
    'bracket-grad': line(t.grad, 1.1),
    wait: text(t.ink3, 12.5),
    'note,step-f,step-w,capsule-waiting-text': text(t.ink3, 11),
    'pill-none': line(t.ink3, 1, 'stroke-dasharray:3 2.5;'),
    'pill-cut': line(t.err, 1.2, 'stroke-dasharray:3 2.5;'),
    'text-cut,text-hatch': text(t.err, 11, 'font-weight:700'),
    'text-solid': text(t.panel, 11, 'font-weight:700'),
    'pill-hatch': `fill:${t.errsoft};stroke:${t.err};stroke-width:1`,
    hatch: line(t.err, 1),
    cells: `fill:${t.sunken};stroke:${t.line};stroke-width:1`,
    picture: line(t.line2, 0.75),
    'norm,cut-line': ui(t.ink2, 11),
    // strips
    'strip-done': `fill:${t.gradsoft};stroke:none`,
    'strip-err': `fill:${t.errsoft};stroke:none`,
    sum: text(t.grad, 11, 'font-weight:700'),
    'sum-label,label-g': text(t.grad, 11.5),
    'strip-fail': text(t.err, 11.5),
    // margins and stubs
    'step-b,capsule-text': text(t.grad, 11, 'font-weight:600'),
    'mark-f,head-ghost': `fill:${t.ink3};stroke:none`,
    'mark-b,head-now': `fill:${t.grad};stroke:none`,
    'mark-w,head-waiting': `fill:${t.line2};stroke:none`,
    stub: line(t.line2, 1, 'stroke-dasharray:3 2.5;'),
    'stub-note': ui(t.ink3, 11),
    'stub-lane': line(t.ink3, 1.1, dash),
    // lanes
    'f-waiting': line(t.line2, 1.2),
    'f-done': line(t.ink2, 1.2),
    'f-current': line(t.ink, 2),
    'f-ghost': line(t.ink3, 1.2, 'stroke-dasharray:3 2.5;'),
    'g-waiting': line(t.line2, 1.2, dash),
    'g-passed': line(t.gradline, 1.4),
    'g-current': line(t.grad, 3),
    'head-done,dot': `fill:${t.ink2};stroke:none`,
    'head-passed,dot-g': `fill:${t.gradline};stroke:none`,
    'edge-hit': 'fill:none;stroke:transparent;stroke-width:16',
    'edge-hover': line(t.line, 12, 'stroke-linecap:round;'),
    'edge-ring': line(t.line2, 14, 'stroke-linecap:round;stroke-opacity:.55;'),
    slot: text(t.ink3, 11, 'font-style:italic'),
    'label-b': text(t.grad, 11.5, 'font-weight:700'),
    capsule: `fill:${t.panel};stroke:${t.gradline};stroke-width:1.2`,
    scissors: `fill:${t.errsoft};stroke:${t.err};stroke-width:1.4`,
    bar: line(t.err, 1.6, 'stroke-dasharray:4 2.5;'),
    'cut-title': ui(t.err, 12, 'font-weight:700'),
    'scissors-calm': `fill:${t.panel};stroke:${t.ink3};stroke-width:1.2`,
    'bar-calm': line(t.ink3, 1.3, 'stroke-dasharray:4 2.5;'),
    'cut-calm': ui(t.ink2, 12, 'font-weight:600'),
  }
}

/** Root declarations shared by page and static SVG. */
export function rootStyle(root: string, t: Tokens): string {
  return `${root}{background:${t.paper};text-rendering:geometricPrecision}`
}
