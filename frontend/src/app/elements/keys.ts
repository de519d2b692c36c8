// The page's keys. A field that is being typed in keeps its own; the graph and the timeline handle theirs before these.

import type { Way } from '../../core/trace/ways'

interface PageKeys {
  run(): void
  step(by: number): void
  /** Over a call or pass, or the other way. */
  over?(back: boolean): void
  /** Out of a call, pass or loop. */
  out?(): void
  end(last: boolean): void
  play(): void
  search(): void
  help(): void
  present?(): void
  /** Where a lesson is presented: a big step on or back, in place of steps of the run. */
  walk?: ((by: number) => void) | undefined
  /** Lights a way through the selection. */
  light?(way: Way): void
  escape(): void
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}

export function pageKey(event: KeyboardEvent, keys: PageKeys): void {
  if (event.defaultPrevented || event.isComposing) return
  if ((event.ctrlKey || event.metaKey) && event.key === 'Enter') {
    keys.run()
    event.preventDefault()
    return
  }
  const { walk } = keys
  const isOfRemote = walk !== undefined && event.key.startsWith('Page') && event.target instanceof HTMLInputElement
  if (event.ctrlKey || event.metaKey || event.altKey || (isTyping(event.target) && !isOfRemote)) return
  if (event.key === ' ' && event.target instanceof HTMLElement && event.target.closest('button, a, summary')) return
  const strides: Record<string, () => void> = {
    ArrowLeft: () => keys.over?.(true),
    ArrowRight: () => keys.over?.(false),
    ArrowDown: () => keys.out?.(),
  }
  const actions: Record<string, () => void> = {
    ArrowLeft: () => (walk ? walk(-1) : keys.step(-1)),
    ArrowRight: () => (walk ? walk(1) : keys.step(1)),
    ...(walk && { PageUp: () => walk(-1), PageDown: () => walk(1) }),
    '[': () => keys.step(-1),
    ']': () => keys.step(1),
    Home: () => keys.end(false),
    End: () => keys.end(true),
    ' ': () => (walk ? walk(1) : keys.play()),
    '/': () => keys.search(),
    '?': () => keys.help(),
    p: () => keys.present?.(),
    a: () => keys.light?.('before'),
    d: () => keys.light?.('after'),
    g: () => keys.light?.('gradient'),
    Escape: () => keys.escape(),
  }
  const action = (event.shiftKey && strides[event.key]) || actions[event.key]
  if (!action) return
  action()
  event.preventDefault()
}
