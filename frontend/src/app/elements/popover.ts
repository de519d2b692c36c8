// A popover closes on Escape and on a press outside of it.

import type { Action } from 'svelte/action'

export const popover: Action<HTMLElement, () => void> = (element, close) => {
  let onclose = close
  const press = (event: PointerEvent): void => {
    if (event.target instanceof Node && !element.contains(event.target)) onclose()
  }
  const key = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return
    event.stopPropagation()
    onclose()
    element.querySelector<HTMLElement>('[aria-expanded]')?.focus()
  }
  document.addEventListener('pointerdown', press, true)
  element.addEventListener('keydown', key)
  return {
    update: (next) => (onclose = next),
    destroy() {
      document.removeEventListener('pointerdown', press, true)
      element.removeEventListener('keydown', key)
    },
  }
}
