// <gradgraph-embed>: a run in a course page, served as /embed.js. A frame that is as high as it wants to be, in the
// page's language and theme; what stands inside the element is shown until then, in print, in feeds, without scripts.

const HOST = new URL((document.currentScript as HTMLScriptElement).src).origin
const MOST_HEIGHT = 1200
const TITLES = { en: 'Computation graph', zh: '计算图' }
const THEME_NAMES = ['data-theme', 'data-bs-theme', 'data-md-color-scheme', 'class']
/** Until it is ready the frame lies unseen over the picture: near enough to be loaded, and nothing is there twice. */
const STYLES = `:host{display:block;position:relative;min-height:120px}
iframe{display:block;width:100%;border:0}slot{display:block}::slotted(*),img{max-width:100%}
iframe:not(.ready){position:absolute;inset:0;opacity:0;pointer-events:none}.ready~slot{display:none}
@media print{iframe{display:none}.ready~slot{display:block}}`

class GradgraphEmbed extends HTMLElement {
  static readonly observedAttributes = [
    'src', 'run', 'snapshot', 'step', 'theme', 'lang', 'height', 'hide', 'highlight', 'mode', 'questions', 'lesson',
  ]

  private readonly frame = document.createElement('iframe')
  private readonly watcher = new MutationObserver(() => this.dress())

  connectedCallback(): void {
    const { frame } = this
    frame.loading = 'lazy'
    frame.allow = 'clipboard-write; fullscreen'
    frame.referrerPolicy = 'strict-origin-when-cross-origin'
    frame.title = this.title || TITLES[this.language]
    const style = document.createElement('style')
    style.textContent = STYLES
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
    root.replaceChildren(style, frame, this.picture())
    this.open()
    addEventListener('message', this.hear)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', this.dress)
    for (const root of [document.documentElement, document.body])
      this.watcher.observe(root, { attributes: true, attributeFilter: [...THEME_NAMES, 'lang', 'style'] })
  }

  disconnectedCallback(): void {
    removeEventListener('message', this.hear)
    matchMedia('(prefers-color-scheme: dark)').removeEventListener('change', this.dress)
    this.watcher.disconnect()
  }

  attributeChangedCallback(name: string): void {
    if (!this.isConnected || !this.shadowRoot) return
    if (name === 'step') this.tell('goto', { step: Number(this.getAttribute('step')) })
    else if (name === 'theme' || name === 'lang') this.dress()
    else this.open()
  }

  private get language(): 'en' | 'zh' {
    return this.closest('[lang]')?.getAttribute('lang')?.toLowerCase().startsWith('zh') ? 'zh' : 'en'
  }

  /** What the element says, else what the page's theme is called, else its colour scheme, else the reader's. */
  private get shade(): string {
    const said = this.getAttribute('theme')
    if (said === 'light' || said === 'dark') return said
    for (const root of [document.body, document.documentElement]) {
      const names = THEME_NAMES.map((name) => root.getAttribute(name) ?? '').join(' ')
      const found = /(?:^|\s)(?:(dark|slate)|light|default)(?:\s|$)/.exec(names)
      if (found) return found[1] ? 'dark' : 'light'
    }
    const scheme = getComputedStyle(this).colorScheme
    if (scheme === 'light' || scheme === 'dark') return scheme
    return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  }

  private open(): void {
    const query = this.query({ theme: this.shade }, ['step', 'hide', 'highlight', 'mode', 'questions', 'lesson'])
    const id = this.getAttribute('snapshot') ?? this.getAttribute('run') ?? ''
    const src = this.getAttribute('src')
    const address = src ? new URL(src, document.baseURI) : new URL(`/embed/${encodeURIComponent(id)}`, HOST)
    for (const [name, value] of query) if (!address.searchParams.has(name)) address.searchParams.set(name, value)
    const { frame } = this
    if (src) frame.setAttribute('sandbox', 'allow-scripts allow-popups')
    frame.className = ''
    frame.style.height = `${Number(this.getAttribute('height')) || 420}px`
    if (frame.src !== address.href) frame.src = address.href
  }

  /** The language, what else is given, and those attributes that the element has. */
  private query(given: Readonly<Record<string, string>>, names: readonly string[]): URLSearchParams {
    const query = new URLSearchParams({ lang: this.language, ...given })
    for (const name of names) {
      const value = this.getAttribute(name)
      if (value) query.set(name, value)
    }
    return query
  }

  /** A picture for a page that gives none: what print and PDF show. */
  private picture(): HTMLElement {
    const slot = document.createElement('slot')
    const [snapshot, run] = [this.getAttribute('snapshot'), this.getAttribute('run')]
    if (!snapshot && !run) return slot
    const img = document.createElement('img')
    const path = snapshot
      ? `/s/${encodeURIComponent(snapshot)}.svg`
      : `/api/v1/runs/${encodeURIComponent(run ?? '')}/graph.svg`
    img.loading = 'lazy'
    img.alt = this.frame.title
    img.src = `${HOST}${path}?${this.query({}, ['step', 'questions'])}`
    slot.append(img)
    return slot
  }

  private tell(type: string, values: Readonly<Record<string, string | number>>): void {
    this.frame.contentWindow?.postMessage({ gradgraph: 1, type, ...values }, '*')
  }

  private readonly dress = (): void => {
    this.tell('theme', { theme: this.shade })
    this.tell('lang', { lang: this.language })
  }

  /** A frame may have no origin: it is known by its window. */
  private readonly hear = ({ source, data }: MessageEvent<unknown>): void => {
    if (source !== this.frame.contentWindow || typeof data !== 'object' || data === null) return
    const said = data as Readonly<Record<string, unknown>>
    if (said.gradgraph !== 1) return
    if (said.type === 'ready') this.frame.className = 'ready'
    if (said.type === 'resize' && typeof said.height === 'number' && !this.hasAttribute('height'))
      this.frame.style.height = `${Math.max(120, Math.min(MOST_HEIGHT, said.height))}px`
    this.dispatchEvent(new CustomEvent(`gradgraph-${String(said.type)}`, { detail: said }))
  }
}

if (!customElements.get('gradgraph-embed')) customElements.define('gradgraph-embed', GradgraphEmbed)
