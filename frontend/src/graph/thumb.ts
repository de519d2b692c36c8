// The small picture of a tensor at a point of a box.

import type { Tensor } from '../api/types'
import type { Rect } from '../core/layout/geometry'
import type { Item } from '../core/paint/marks'

export interface Thumb {
  tensor: Tensor
  tone: 'ink' | 'grad'
  /** Its cell in the graph. */
  place: Rect
}

export function thumbAt(item: Item | undefined, x: number, y: number): Thumb | null {
  if (!item) return null
  const half = item.w / 2
  for (const mark of item.marks) {
    if (mark.k !== 'image') continue
    const isRight = mark.x > half
    const place = { x: item.x + (isRight ? half : 0), y: item.y + mark.y, w: half, h: mark.h }
    if (x >= place.x && x <= place.x + half && y >= place.y && y <= place.y + place.h)
      return { tensor: mark.tensor, tone: isRight ? 'grad' : 'ink', place }
  }
  return null
}
