import { expect, test } from 'vitest'
import type { Layout } from '../core/layout/geometry'
import { beginsIn } from './hit'

test('a window begins in the group at its top, or in one whose heading begins beside it', () => {
  const frame = (id: string, y: number) => ({ id, x: 0, y, w: 1000, h: 300, title_x: 20, title_w: 200 })
  const layout = { frames: [frame('above', 0), frame('below', 400)] } as unknown as Layout
  const at = (x: number, y: number) => beginsIn(layout, { x, y, w: 600, h: 500 })?.id
  expect([at(0, 100), at(100, 320), at(0, 320), at(100, 800)]).toEqual(['above', 'below', undefined, undefined])
})
