import { expect, test } from 'vitest'
import type { Graph } from '../api/types'
import { sheetOf } from '../core/layout/fold'
import { fullTitle } from './overview'

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
