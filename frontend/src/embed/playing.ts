// The player of a run that stands in the page itself. In a file that holds its run (server/standalone.py) it starts by
// itself: with no server, in any sandbox. As a module it puts such a file into an element of any page.

import { mount as draw } from 'svelte'
import '../app/shell/base.css'
import Embed from './Embed.svelte'
import type { Asking } from './asking'
import { FORMAT, InlineSource, type Inline } from './inline'
import { embedOptions, END } from './options'

/** The build puts the style sheet in here: nothing else is loaded. */
declare const __STYLES__: string

const HOLDER = 'gradgraph-run'
const LEAST_HEIGHT = 120
const MOST_HEIGHT = 1200

/** How it opens: `step`, `lang`, `theme`, `mode`, `hide`, `highlight`, as in the address of an embed; and pixels. */
interface Opening {
  height?: number
  [name: string]: string | number | undefined
}

/** What the frame would like to be; others say other things. */
interface Resize {
  type: string
  height: number
}

type Mount = (element: Element, run: Inline, opening?: Opening) => HTMLIFrameElement

/** Starts the run of the page it stands in, if there is one; `ask` is what asks the reader, in a player that can. */
export function player(ask?: () => Promise<Asking>): Mount {
  const [place, held] = [document.getElementById('embed'), document.getElementById(HOLDER)?.textContent]
  if (place && held) start(place, JSON.parse(held) as Inline, ask)
  return (element, run, opening = {}) => {
    if (!ask && run.parts.some(({ until }) => until != null) && opening.questions !== 'off')
      throw new Error('this program asks its reader: take embed-questions.mjs, or questions: "off"')
    return mount(element, run, opening)
  }
}

/** Shows a run (`graph.player` of the API) in an element, in a frame as high as it wants to be, unless told. */
function mount(element: Element, run: Inline, { height, ...opening }: Opening): HTMLIFrameElement {
  if (run.format !== FORMAT) throw new Error(`this player reads ${FORMAT}, not ${String(run.format)}`)
  const said = Object.entries(opening).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  const frame = document.createElement('iframe')
  frame.title = run.opens.lang === 'zh' ? '计算图' : 'Computation graph'
  frame.style.cssText = `display:block;width:100%;height:${height ?? 420}px;border:0`
  frame.srcdoc = fileOf({ ...run, opens: { ...run.opens, ...Object.fromEntries(said) } })
  element.replaceChildren(frame)
  if (height === undefined)
    addEventListener('message', function hear({ source, data }: MessageEvent<Resize | null>) {
      if (!frame.isConnected) removeEventListener('message', hear)
      else if (source === frame.contentWindow && data?.type === 'resize')
        frame.style.height = `${Math.max(LEAST_HEIGHT, Math.min(MOST_HEIGHT, data.height))}px`
    })
  return frame
}

/** A page that holds a run, and starts this script. */
function fileOf(run: Inline): string {
  const page = document.implementation.createHTMLDocument('')
  const place = page.createElement('div')
  place.id = 'embed'
  const [held, player] = [page.createElement('script'), page.createElement('script')]
  held.id = HOLDER
  held.type = 'application/json'
  held.textContent = JSON.stringify(run).replaceAll('<', '\\u003c')
  player.type = 'module'
  player.src = import.meta.url
  page.body.append(place, held, player)
  return `<!doctype html>${page.documentElement.outerHTML}`
}

function start(target: Element, given: Inline, ask?: () => Promise<Asking>): void {
  const styles = document.createElement('style')
  styles.textContent = __STYLES__
  document.head.append(styles)
  const query = new URLSearchParams({ ...given.opens, ...Object.fromEntries(new URLSearchParams(location.search)) })
  const view = { ...END, selection: given.selection ?? null }
  const options = embedOptions('', `?${query.toString()}`, navigator.language, view)
  const source = new InlineSource(given)
  void source.words(options.lang).then((spoken) => draw(Embed, { target, props: { options, source, spoken, ask } }))
}
