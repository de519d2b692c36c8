import { expect, test } from 'vitest'
import type { Layout, Rect } from '../core/layout/geometry'
import { piecesOf } from './sheets'

/** Boxes of 100 × 50, in rows and columns with 50 between them. */
function grid(columns: number, rows: number): Layout {
  const boxes = Array.from({ length: columns * rows }, (_, at) => ({
    id: String(at), x: (at % columns) * 150, y: Math.floor(at / columns) * 100, w: 100, h: 50,
  }))
  const size = { x: 0, y: 0, width: columns * 150 - 50, height: rows * 100 - 50 }
  return { boxes, frames: [], wires: [], dots: [], open: [], ...size }
}

function holds(piece: Rect, box: Rect): boolean {
  const [right, bottom] = [piece.x + piece.w, piece.y + piece.h]
  return piece.x <= box.x && piece.y <= box.y && box.x + box.w <= right && box.y + box.h <= bottom
}

const PHONE = { width: 375, height: 300 }

test.each([
  ['small', grid(3, 4), null, 1, false],
  ['as wide as a sheet is legible', grid(8, 2), null, 1, false],
  ['wider', grid(9, 2), null, 1, true],
  ['wider than a sheet is high', grid(14, 2), null, 2, true],
  ['high', grid(2, 20), null, 2, false],
  ['large', grid(20, 30), null, 6, false],
  ['in a frame that holds it', grid(3, 4), PHONE, 1, false],
  ['high in a frame', grid(2, 20), PHONE, 3, false],
  ['wide in a frame', grid(14, 2), PHONE, 3, false],
] as const)('every box is whole on a piece: %s', (_, layout, frame, many, turned) => {
  const pieces = piecesOf(layout, frame)
  expect(layout.boxes.filter((box) => pieces.filter((piece) => holds(piece, box)).length !== 1)).toEqual([])
  expect(pieces.length).toBe(many)
  expect(pieces.every((piece) => piece.turned === turned)).toBe(true)
})
