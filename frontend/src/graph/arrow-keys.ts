// Where the arrow keys go: up to the producer, down to the consumer, sideways to the nearest neighbour.

import type { Layout, Placed } from '../core/layout/geometry'

export type Arrow = 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight'

export function neighbour(layout: Layout, from: string, arrow: Arrow): string | null {
  const here = layout.boxes.find((box) => box.id === from) ?? layout.frames.find((frame) => frame.id === from)
  if (!here) return layout.boxes[0]?.id ?? null
  const sideways = arrow === 'ArrowLeft' || arrow === 'ArrowRight'
  const along = sideways ? [] : linked(layout, here, arrow === 'ArrowUp')
  const candidates = along.length > 0 ? along : layout.boxes.filter((box) => box.id !== from && lies(here, box, arrow))
  let best: Placed | null = null
  for (const box of candidates) if (!best || distance(here, box, sideways) < distance(here, best, sideways)) best = box
  return best?.id ?? null
}

/** Boxes joined by wires, also through the borders of groups. */
function linked(layout: Layout, here: Placed, up: boolean): Placed[] {
  const wires = layout.wires.filter((wire) =>
    up ? wire.ends_at_box && wire.target === here.id : wire.starts_at_box && wire.source === here.id,
  )
  const links = new Set(wires.flatMap((wire) => wire.links))
  const ends = new Set(
    layout.wires
      .filter((wire) => wire.links.some((link) => links.has(link)) && (up ? wire.starts_at_box : wire.ends_at_box))
      .map((wire) => (up ? wire.source : wire.target)),
  )
  return layout.boxes.filter((box) => box.id !== here.id && ends.has(box.id))
}

function lies(here: Placed, box: Placed, arrow: Arrow): boolean {
  if (
    arrow === 'ArrowDown' &&
    box.x >= here.x &&
    box.x + box.w <= here.x + here.w &&
    box.y > here.y &&
    box.y < here.y + here.h
  )
    return true
  if (arrow === 'ArrowLeft') return box.x + box.w <= here.x + 1
  if (arrow === 'ArrowRight') return box.x >= here.x + here.w - 1
  return arrow === 'ArrowUp' ? box.y + box.h <= here.y + 1 : box.y >= here.y + here.h - 1
}

function distance(a: Placed, b: Placed, sideways: boolean): number {
  const dx = Math.abs(a.x + a.w / 2 - b.x - b.w / 2)
  const dy = Math.abs(a.y - b.y)
  return sideways ? dx + 3 * dy : dy + 0.5 * dx
}
