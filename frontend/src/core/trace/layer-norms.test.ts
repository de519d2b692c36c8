import { expect, test } from 'vitest'
import type { Trace } from '../../api/types'
import { History } from './history'
import { layerNormsOf, type LayerNorms } from './layer-norms'
import { TraceIndex } from './trace-index'
import { curveOf, type Point } from './training'

const lessons = import.meta.glob<Trace>('../../../../gallery/*.json', { eager: true, import: 'default' })

function read(lesson: string): { norms: LayerNorms; curve: Point[] } {
  const trace = { ...lessons[`../../../../gallery/${lesson}.json`]!, program: { code: '' } }
  const curve = curveOf(trace)
  return { norms: layerNormsOf(new History(new TraceIndex(trace)), curve), curve }
}

test.each(['mlp_training', 'linear_regression', 'small_transformer', 'accumulation', 'small_cnn'])(
  'the layers of %s together have the norm that the engine told of each pass',
  (lesson) => {
    const { norms, curve } = read(lesson)
    expect(norms.layers.length).toBeGreaterThan(0)
    norms.moments.forEach(({ number }, at) => {
      const told = curve.find((point) => point.number === number)!.gradientNorm!
      const whole = Math.hypot(...norms.layers.map((layer) => layer.norms[at] ?? 0))
      expect(whole / told).toBeCloseTo(1, 3) // lessons keep four digits
    })
  },
)

test('a layer is a module, and a leaf outside of modules is one by itself', () => {
  expect(read('mlp_training').norms.layers.every(({ name }) => !name.endsWith('.weight'))).toBe(true)
  expect(read('accumulation').norms.layers.map(({ name }) => name)).toEqual(['w'])
})

test('leaves of one name are told apart by the optimizers that change them', () => {
  const names = read('optimizers_compared').norms.layers.map(({ name }) => name)
  expect(names[0]).toBe('SGD lr=0.045 momentum=0 · point')
  expect(names).toContain('Adagrad · point')
  expect(new Set(names).size).toBe(names.length)
})

test('leaves of one name without an optimizer are numbered', () => {
  const trace = { ...lessons['../../../../gallery/accumulation.json']!, program: { code: '' } }
  const [account] = new History(new TraceIndex(trace)).accounts
  const history = { index: new TraceIndex(trace), accounts: [account, { ...account }] } as unknown as History
  expect(layerNormsOf(history, curveOf(trace)).layers.map(({ name }) => name)).toEqual(['w', 'w #2'])
})
