// Numbers, shapes and text as the page writes them, and the rule that measures text without a page.

export const MINUS = '\u2212'

/** 4 significant digits, trailing zeros dropped, U+2212 for minus, `1.2e−5` outside 1e−4 … 1e7. */
export function formatNumber(value: number): string {
  return formatDigits(value, 4)
}

/** A number behind a sign: one below 0 in brackets. */
export function asTerm(text: string): string {
  return text[0] === MINUS ? `(${text})` : text
}

/** `−2 + (−3)` */
export function plus(terms: readonly string[], sign = '+'): string {
  return terms.map((term, at) => (at > 0 ? asTerm(term) : term)).join(` ${sign} `)
}

/** The same with so many digits. */
export function formatDigits(value: number, digits: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : `${MINUS}Inf`
  if (value === 0) return '0'
  const size = Math.abs(value)
  const sign = value < 0 ? MINUS : ''
  if (Number(size.toPrecision(4)) < 1e-4 || size >= 1e7) return sign + exponential(size, digits)
  if (size >= 10 ** (digits - 1)) return sign + String(Math.round(size))
  return sign + String(Number(size.toPrecision(digits)))
}

function exponential(size: number, digits: number): string {
  const [mantissa = '', exponent = ''] = size.toExponential(digits - 1).split('e')
  return `${Number(mantissa)}e${exponent.replace('+', '').replace('-', MINUS)}`
}

/** A number of the wire: non-finite ones are words, big whole numbers decimal strings, booleans themselves. */
export function wireNumber(value: boolean | number | string): number {
  if (typeof value === 'number') return value
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value === 'nan') return NaN
  if (value === 'inf') return Infinity
  if (value === '-inf') return -Infinity
  return Number(value)
}

/** `2×2`, `()` for a scalar. */
export function formatShape(shape: readonly number[]): string {
  if (shape.length === 0) return '()'
  return shape.join('×')
}

/** 864, 4.2k, 12.6k, 1.3M. */
export function formatCount(count: number): string {
  if (count < 1000) return String(count)
  if (count < 1e6) return `${Number((count / 1e3).toFixed(1))}k`
  if (count < 1e9) return `${Number((count / 1e6).toFixed(1))}M`
  return `${Number((count / 1e9).toFixed(1))}G`
}

/** 16 B, 1.5 KiB, 190 MiB, 2.1 GiB. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  if (bytes < 1024 ** 2) return `${Number((bytes / 1024).toPrecision(3))} KiB`
  if (bytes < 1024 ** 3) return `${Number((bytes / 1024 ** 2).toPrecision(3))} MiB`
  return `${Number((bytes / 1024 ** 3).toPrecision(3))} GiB`
}

/** Width of text: 0.6 em a character, 1 em for CJK and full-width ones; the same in browser, worker and server. */
export function textWidth(text: string, size: number): number {
  let em = 0
  for (const character of text) em += isWide(character.codePointAt(0) ?? 0) ? 1 : 0.6
  return em * size
}

function isWide(code: number): boolean {
  return (
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    code >= 0x1f300
  )
}

/** The text cut in its middle to fit: `MulBack…d0`. */
export function cutMiddle(text: string, size: number, width: number): string {
  if (textWidth(text, size) <= width) return text
  const letters = [...text]
  for (let kept = letters.length - 1; kept >= 2; kept--) {
    const head = Math.ceil(kept * 0.75)
    const cut = `${letters.slice(0, head).join('')}…${letters.slice(letters.length - (kept - head)).join('')}`
    if (textWidth(cut, size) <= width) return cut
  }
  return '…'
}

/** A text for a terminal without what such a one takes as a command, as the colour of letters (ECMA-48, 5.4). */
export function lettersOf(text: string): string {
  return text.replace(/\u001b\[[0-?]*[ -/]*[@-~]/g, '')
}

/** The text cut at its end to fit. */
export function cutEnd(text: string, size: number, width: number): string {
  if (textWidth(text, size) <= width) return text
  const letters = [...text]
  while (letters.length > 1 && textWidth(`${letters.join('')}…`, size) > width) letters.pop()
  return letters.length > 0 ? `${letters.join('')}…` : ''
}

/** A path that does not fit keeps its end: two parameters of one module begin alike. */
export function cutPath(text: string, size: number, width: number): string {
  let said = text
  while (textWidth(said, size) > width && /^[\w.[\]…]+\.\w+$/.test(said)) said = said.replace(/^…?[^.]*\./, '…')
  return cutEnd(said, size, width)
}

/** A name cut to fit: a path or a type in its middle, code at its end, so that no bracket closes what none opened. */
export function cutName(text: string, size: number, width: number): string {
  return (/[\s(]/.test(text) ? cutEnd : cutMiddle)(text, size, width)
}
