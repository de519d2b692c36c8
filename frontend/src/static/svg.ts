// Trace and graph to one SVG document, in bare JavaScript: the server runs this in V8, tests run it as is.

import type { Graph, Trace } from '../api/types'
import { TOKENS, type Shade } from '../core/paint/colour'
import { ICONS, type IconName } from '../core/paint/icons'
import { standIn } from '../core/layout/fold'
import type { Layout, Placed, Wire } from '../core/layout/geometry'
import { layout } from '../core/layout/layout'
import { lanePath } from '../core/layout/route'
import { EMBED } from '../core/paint/measure'
import { PAGE } from '../core/paint/annotations'
import { pictureUri } from '../core/paint/picture'
import type { Item, Mark } from '../core/paint/marks'
import { layoutInput } from '../core/paint/sizes'
import { rootStyle, styleSheet } from '../core/paint/style'
import { drawAll, View } from '../core/paint/view'
import type { Selection } from '../core/state'
import { codeAt } from '../core/trace/naming'
import { words } from '../core/words/bundled'

interface SvgOptions {
  lang?: 'zh' | 'en'
  theme?: Shade
  /** Steps that have happened; left out: all of them. */
  step?: number
  /** Width of the document in px; the graph is scaled to fit. */
  width?: number
  /** Its height, with the width; the graph is scaled to fit both and stands in the middle. */
  height?: number
  /** Groups that are open; left out: the opening choice. */
  expanded?: string[]
  /** What has a ring around it. */
  selection?: Selection | null
  /** Boxes as in an embed: short titles, no step numbers. */
  embedded?: boolean
}

const PADDING = 24
/** Those of the page (app/base.css). */
const FONTS = {
  mono: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", "Noto Sans Mono CJK SC", monospace',
  ui: '-apple-system, "Segoe UI", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "Source Han Sans SC", sans-serif',
}

/** A complete SVG document of one moment of a run. */
function drawSvg(trace: Trace, graph: Graph, options: SvgOptions = {}): string {
  const lang = options.lang ?? 'en'
  const shade = options.theme ?? 'light'
  const view = new View(trace, graph, words(lang), options.embedded ? EMBED : PAGE)
  const input = layoutInput(view.measure, options.expanded ? new Set(options.expanded) : null)
  const placed = layout(input)
  const selected = selectedIn(view, placed, new Set(input.expanded), options.selection ?? null)
  const moment = view.at(Math.min(options.step ?? Infinity, trace.timeline.length))
  const items = drawAll(view, placed, moment, view.painter(shade))
  const root = `gg-${trace.id.replace(/[^\w-]/g, '').slice(0, 12)}-${shade}`
  const [own, high] = [Math.ceil(placed.width) + 2 * PADDING, Math.ceil(placed.height) + 2 * PADDING]
  const width = options.width ?? own
  const height = options.height ?? Math.round((high * width) / own)
  const [w, h] = options.height
    ? [Math.max(own, (high * width) / height), Math.max(high, (own * height) / width)]
    : [own, high]
  const [x, y] = [placed.x - PADDING - (w - own) / 2, placed.y - PADDING - (h - high) / 2]
  const dots = placed.dots
    .map(([x, y]) => `<rect class="dot" x="${x - 5.5}" y="${y - 2}" width="4" height="4" rx="2"/>`)
    .join('')
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" id="${root}" class="${root}" role="img" lang="${lang}" ` +
    `viewBox="${n(x)} ${n(y)} ${n(w)} ${n(h)}" width="${width}" height="${height}">` +
    `<title>${escape(titleOf(trace, graph, lang))}</title><desc>${escape(describe(items))}</desc>` +
    `<style>${rootStyle(`.${root}`, TOKENS[shade])}\n${styleSheet(`.${root}`, TOKENS[shade], FONTS)}</style>` +
    `<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" ` +
    `fill="${TOKENS[shade].paper}"/>` +
    items.filter((item) => item.kind === 'frame').map((item) => group(item, shade)).join('') +
    selected.wires.map(wireRing).join('') +
    items.filter((item) => item.kind === 'wire').map((item) => group(item, shade)).join('') +
    dots +
    items.filter((item) => item.kind === 'box' || item.kind === 'group').map((item) => group(item, shade)).join('') +
    selected.places.map(ring).join('') +
    '</svg>'
  )
}

/** What the page would draw rings around; a selected line of the program has none. */
function selectedIn(
  view: View, placed: Layout, open: ReadonlySet<string>, selection: Selection | null,
): { places: readonly Placed[]; wires: readonly Wire[] } {
  if (selection === null || selection.kind === 'line') return { places: [], wires: [] }
  const { id } = selection
  if (selection.kind === 'edge') return { places: [], wires: placed.wires.filter(({ links }) => links.includes(id)) }
  const shown = standIn(view.sheet, id, open)
  return { places: [...placed.boxes, ...placed.frames].filter((place) => place.id === shown), wires: [] }
}

function ring({ x, y, w, h }: Placed): string {
  return `<rect class="ring" x="${n(x - 4)}" y="${n(y - 4)}" width="${n(w + 8)}" height="${n(h + 8)}" rx="7"/>`
}

function wireRing({ knots, upward }: Wire): string {
  return `<path class="edge-ring" d="${lanePath(knots, upward, 0)}"/>`
}

/** What is drawn: the graph of an expression, or of the call that went through it. */
function titleOf({ program, passes }: Trace, graph: Graph, lang: 'zh' | 'en'): string {
  const call = passes.findLast(({ id }) => graph.passes?.includes(id))
  const told = program.expression ?? codeAt(program.code, call?.span)
  return [words(lang)('graph.label'), told].filter(Boolean).join(lang === 'zh' ? '：' : ': ')
}

function describe(items: readonly Item[]): string {
  return items
    .filter((item) => item.kind === 'box' || item.kind === 'group')
    .slice(0, 40)
    .map((item) => item.label)
    .join('; ')
}

function group(item: Item, shade: Shade): string {
  const title = item.kind === 'wire' ? '' : `<title>${escape(item.label)}</title>`
  return `<g transform="translate(${item.x} ${item.y})">${title}${item.marks.map((mark) => markup(mark, shade)).join('')}</g>`
}

function markup(mark: Mark, shade: Shade): string {
  if (mark.k === 'rect') {
    const fill = mark.fill ? ` fill="${mark.fill}"` : ''
    return `<rect class="${mark.c}" x="${n(mark.x)}" y="${n(mark.y)}" width="${n(mark.w)}" height="${n(mark.h)}"${mark.r ? ` rx="${mark.r}"` : ''}${fill}/>`
  }
  if (mark.k === 'path') {
    if (mark.c === 'edge-hit') return ''
    if (!mark.at) return `<path class="${mark.c}" d="${mark.d}"/>`
    const [x, y, scale] = mark.at
    return `<path class="${mark.c}" transform="translate(${n(x)} ${n(y)}) scale(${n(scale)})" d="${ICONS[mark.d as IconName]}"/>`
  }
  if (mark.k === 'image') {
    const uri = pictureUri(mark.tensor, shade)
    return uri
      ? `<image x="${n(mark.x)}" y="${n(mark.y)}" width="${mark.w}" height="${mark.h}" preserveAspectRatio="none" style="image-rendering:pixelated" href="${uri}"/>`
      : ''
  }
  const anchor = mark.a ? ` text-anchor="${mark.a}"` : ''
  return `<text class="${mark.c}" x="${n(mark.x)}" y="${n(mark.y)}"${anchor}>${escape(mark.s)}</text>`
}

function n(value: number): string {
  return String(Math.round(value * 100) / 100)
}

function escape(text: string): string {
  // Control characters are not allowed in XML, not even escaped.
  const legal = text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
  return legal.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')
}

declare global {
  var gradgraphSvg: (traceJson: string, graphJson: string, optionsJson: string) => string
}

globalThis.gradgraphSvg = (traceJson, graphJson, optionsJson) =>
  drawSvg(JSON.parse(traceJson) as Trace, JSON.parse(graphJson) as Graph, JSON.parse(optionsJson || '{}') as SvgOptions)
