// What a picture is made of: marks, and the things they belong to.

import type { Tensor } from '../../api/types'

export type Mark =
  | { k: 'rect'; c: string; x: number; y: number; w: number; h: number; r?: number; fill?: string }
  | { k: 'path'; c: string; d: string; at?: readonly [x: number, y: number, scale: number] }
  | { k: 'text'; c: string; x: number; y: number; s: string; a?: 'middle' | 'end'; step?: number }
  | { k: 'image'; tensor: Tensor; x: number; y: number; w: number; h: number }

/** One thing on the picture: its marks are relative to (x, y). */
export interface Item {
  id: string
  kind: 'frame' | 'wire' | 'box' | 'group'
  x: number
  y: number
  w: number
  h: number
  marks: readonly Mark[]
  /** What of a wire no other wire strikes through. */
  over?: Item
  /** What a screen reader says, and the tooltip. */
  label: string
}
