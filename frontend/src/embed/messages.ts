// Messages between an embed and the page around it. The frame may have no origin of its own, so it matches by window.

import type { Lang, Theme } from '../core/state'

export type Asked = { kind: 'goto'; step: number } | { kind: 'theme'; theme: Theme } | { kind: 'lang'; lang: Lang }

/** Version of the messages, as docs/embedding.md has them; a message of ours carries it. */
const VERSION = 1

/** Tells the page around; an embed opened by itself has nobody to tell. */
export function tell(
  type: 'ready' | 'resize' | 'step' | 'select' | 'leave', values: Readonly<Record<string, number | string | null>> = {},
): void {
  if (window.parent === window) return
  window.parent.postMessage({ gradgraph: VERSION, type, ...values }, '*')
  if (type === 'resize') window.parent.postMessage({ subject: 'lti.frameResize', height: values.height }, '*')
}

/** Reads a message of the page around; null for anything else that passes by. */
export function asked(event: MessageEvent): Asked | null {
  const data: unknown = event.data
  if (event.source !== window.parent || typeof data !== 'object' || data === null) return null
  const message = data as Readonly<Record<string, unknown>>
  if (message.gradgraph !== VERSION) return null
  if (message.type === 'goto' && typeof message.step === 'number' && Number.isFinite(message.step))
    return { kind: 'goto', step: message.step }
  const { theme, lang } = message
  if (message.type === 'theme' && (theme === 'light' || theme === 'dark' || theme === 'auto'))
    return { kind: 'theme', theme }
  if (message.type === 'lang' && (lang === 'zh' || lang === 'en')) return { kind: 'lang', lang }
  return null
}
