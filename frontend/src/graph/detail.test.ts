import { expect, test } from 'vitest'
import { detailFor } from './detail'

test('what can be read is drawn in full, however many lanes cross it; only thousands are too many', () => {
  expect(detailFor(1, 20, 400)).toBe('full')
  expect(detailFor(1, 20, 4000)).toBe('plain')
})

test('from far away the drawing is simpler', () => {
  expect([0.5, 0.4, 0.1].map((zoom) => detailFor(zoom, 20, 30))).toEqual(['full', 'plain', 'map'])
  expect(detailFor(0.5, 60, 200)).toBe('plain')
})
