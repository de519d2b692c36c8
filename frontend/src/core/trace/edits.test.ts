import { describe, expect, test } from 'vitest'
import type { Edit } from '../../api/types'
import { applyEdits } from './edits'

const edit = (line: number, column: number, endColumn: number, text: string, endLine = line): Edit => ({
  span: { line, end_line: endLine, column, end_column: endColumn },
  text,
})

describe('edits', () => {
  test('are put in from the back, so that none moves another', () => {
    expect(applyEdits('a = 1\nb = 2\n', [edit(1, 4, 5, '100'), edit(2, 4, 5, '200')])).toBe('a = 100\nb = 200\n')
    expect(applyEdits('f(a, b)', [edit(1, 2, 3, 'x'), edit(1, 5, 6, 'y')])).toBe('f(x, y)')
  })

  test('count columns in code points', () => {
    expect(applyEdits('名 = "😀"; s = h.detach()', [edit(1, 14, 23, '')])).toBe('名 = "😀"; s = h')
  })

  test('insert, delete and run over lines', () => {
    expect(applyEdits('loss.backward()', [edit(1, 0, 0, 'optimizer.zero_grad()\n')])).toBe(
      'optimizer.zero_grad()\nloss.backward()',
    )
    expect(applyEdits('with torch.no_grad():\n    y = x\n', [edit(1, 0, 4, '', 2)])).toBe('y = x\n')
  })

  test('beyond the end go to the end', () => {
    expect(applyEdits('a', [edit(9, 0, 0, '\nb')])).toBe('a\nb')
    expect(applyEdits('a', [edit(1, 40, 50, 'b')])).toBe('ab')
  })
})
