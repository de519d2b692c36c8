import { expect, test } from 'vitest'
import { portsAlong } from './ports'

test('ports keep their order, their distance and to their box', () => {
  for (let seed = 0; seed < 500; seed++) {
    const wishes = Array.from({ length: 2 + (seed % 8) }, (_, at) => ({
      at, towards: Math.round(Math.sin(seed * 7 + at * 13) * 400), pair: Math.floor(at / (1 + (seed % 3))),
    }))
    const ports = portsAlong(wishes, 0, 140)
    for (const port of ports) expect(Math.abs(port)).toBeLessThanOrEqual(56.001)
    const byPlace = ports.map((port, at) => ({ port, towards: wishes[at]!.towards })).sort((a, b) => a.port - b.port)
    byPlace.forEach((entry, at) => {
      if (at === 0) return
      expect(entry.port - byPlace[at - 1]!.port).toBeGreaterThan(7)
      expect(entry.towards).toBeGreaterThanOrEqual(byPlace[at - 1]!.towards)
    })
  }
})

test('a lone wire leaves at the centre, or straight when that is near', () => {
  expect(portsAlong([{ at: 0, towards: 200, pair: 0 }], 100, 140)).toEqual([100])
  expect(portsAlong([{ at: 0, towards: 110, pair: 0 }], 100, 140)).toEqual([110])
})
