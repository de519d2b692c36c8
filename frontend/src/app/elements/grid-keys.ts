// Arrow keys between the buttons of a table. Tab reaches the table alone; its buttons take `tabindex="-1"`.

import type { Action } from 'svelte/action'

export const gridKeys: Action<HTMLTableElement> = (table) => {
  const go = (event: KeyboardEvent): void => {
    const target = targetOf(table, event)
    if (!target || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    target.focus()
    event.preventDefault()
  }
  table.addEventListener('keydown', go)
  return { destroy: () => table.removeEventListener('keydown', go) }
}

function targetOf(table: HTMLTableElement, { key, target }: KeyboardEvent): HTMLElement | null | undefined {
  if (!/^(Arrow(Left|Right|Up|Down)|Home|End)$/.test(key)) return null
  const cell = target instanceof Element ? target.closest<HTMLTableCellElement>('th, td') : null
  const row = cell?.closest('tr')
  if (!cell || !row) return table.querySelector('button')
  if (key === 'ArrowUp' || key === 'ArrowDown') return beside(table, row, cell, key === 'ArrowDown' ? 1 : -1)
  const buttons = [...row.querySelectorAll('button')]
  const at = buttons.findIndex((button) => cell.contains(button))
  return buttons.at({ ArrowLeft: Math.max(0, at - 1), ArrowRight: at + 1, Home: 0, End: -1 }[key] ?? at) ?? buttons[at]
}

/** In the next row that has one, the button of the same column. */
function beside(
  table: HTMLTableElement, row: HTMLTableRowElement, cell: HTMLTableCellElement, by: 1 | -1,
): HTMLElement | undefined {
  for (let at = row.rowIndex + by; at >= 0 && at < table.rows.length; at += by) {
    const found = table.rows[at]!.cells[cell.cellIndex]?.querySelector('button')
    if (found) return found
  }
  return undefined
}
