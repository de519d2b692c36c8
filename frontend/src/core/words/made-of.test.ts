import { expect, test } from 'vitest'
import { isMadeOf } from './made-of'

const LESSON = 'import torch\n\nx = torch.ones(2)\ny = x * 3\ny.sum().backward()\n'

test('an edited lesson is still made of it, another program is not', () => {
  expect(isMadeOf(LESSON.replace('3', '4'), LESSON)).toBe(true)
  expect(isMadeOf(`# mine\n${LESSON}print(x.grad)`, LESSON)).toBe(true)
  expect(isMadeOf('import torch\n\nmodel = torch.nn.Linear(2, 1)\nprint(model)', LESSON)).toBe(false)
  expect(isMadeOf('', LESSON)).toBe(false)
})
