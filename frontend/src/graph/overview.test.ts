import { expect, test } from 'vitest'
import type { Graph } from '../api/types'
import { sheetOf } from '../core/layout/fold'
import { cutAlike, fullTitle } from './overview'

test('names of a list, which begin alike, are cut at their start', () => {
  const cut = ['mlp.layers[1].neurons[2]', 'encoder.layers.0.attention'].map((name) => cutAlike(name, 10, 90))
  expect(cut).toEqual(['…[1].neurons[2]', expect.stringMatching(/^enc.*….*n$/)])
})

test('a number leads with what it is one of where nothing around it is named', () => {
  const group = (id: string, title: string, kind: string, parent: string | null, type = '') =>
    ({ id, title, kind, parent, type })
  const groups = [
    group('m', 'layer2', 'module', null), group('a', '0', 'module', 'm', 'Basic'),
    group('l', 'for x in xs', 'loop', null), group('b', '1', 'loop', 'l', 'for x'),
    group('s', '1', 'module', 'm', 'Linear'), { ...group('t', 'layers', 'module', null), repeat: 12 },
  ]
  const boxes = ['a', 'a', 'b', 'b', 's', 't', 't'].map(
    (inside, at) => ({ id: `n${at}`, kind: 'op', title: 'mul', group: inside }),
  )
  const sheet = sheetOf({ boxes, links: [], groups, roots: [] } as unknown as Graph)
  expect(['m', 'a', 'b'].map((id) => fullTitle(sheet, id))).toEqual(['layer2', 'layer2.0', '1 for x'])
  expect(['n4', 't'].map((id) => fullTitle(sheet, id))).toEqual(['layer2.1', 'layers ×12'])
})
