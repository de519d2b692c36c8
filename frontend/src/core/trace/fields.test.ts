import { describe, expect, it } from 'vitest'
import en from '../../../words/en.json'
import zh from '../../../words/zh.json'
import type { Trace } from '../../api/types'
import { fieldsOf } from './fields'
import { load } from '../fixtures/load'
import { TraceIndex } from './trace-index'

function told(index: TraceIndex, id: string): Record<string, string> {
  const tensor = index.tensor(id)!
  return Object.fromEntries(
    fieldsOf(index, tensor, 'data', 'None').map((field) => [(field.inner ? 'grad_fn.' : '') + field.name, field.value]),
  )
}

const { trace } = load('scalar_expression')
const index = new TraceIndex(trace)
const named = (name: string): string => trace.tensors.find((one) => one.names?.includes(name))!.id

/** A trace of one tensor. */
function alone(tensor: Partial<Trace['tensors'][number]>, code = ''): TraceIndex {
  const one = { id: 't1', shape: [2, 3], dtype: 'float32', role: 'leaf' as const, ...tensor }
  return new TraceIndex({
    ...trace,
    program: { code },
    tensors: [one],
    ops: [],
    nodes: [],
    passes: [],
    updates: [],
    timeline: [],
    variables: [],
  })
}

describe('the fields of a tensor', () => {
  it('are those PyTorch gives for a computed one', () => {
    const result = trace.tensors.find((one) => one.grad_fn)!
    const node = index.node(result.grad_fn!.node)!
    const fields = told(index, result.id)
    expect(fields).toMatchObject({
      is_leaf: 'False', requires_grad: 'True', grad_fn: `<${node.type}>`, output_nr: '0', layout: 'torch.strided',
      device: 'cpu', is_cpu: 'True', is_cuda: 'False', is_sparse: 'False', is_quantized: 'False', name: 'None',
      retains_grad: 'False', 'grad_fn.requires_grad': 'True',
    })
    expect(fields['grad_fn.next_functions']).toMatch(/^\(\(\w+, 0\)/)
  })

  it('are those PyTorch gives for a leaf', () => {
    const fields = told(index, named('x'))
    expect(fields).toMatchObject({ is_leaf: 'True', grad_fn: 'None', _base: 'None', _version: '0' })
    expect(fields['grad_fn.next_functions']).toBeUndefined()
  })

  it('count bytes, axes and strides', () => {
    expect(told(alone({}), 't1')).toMatchObject({
      shape: 'torch.Size([2, 3])', ndim: '2', 'stride()': '(3, 1)', 'is_contiguous()': 'True', nbytes: '24',
      itemsize: '4', names: '(None, None)',
    })
    expect(told(alone({ shape: [], dtype: 'bool' }), 't1')).toMatchObject({
      shape: 'torch.Size([])', 'stride()': '()', nbytes: '1', names: '()', 'is_floating_point()': 'False',
    })
    expect(told(alone({ shape: [3], strides: [0] }), 't1')).toMatchObject({
      'stride()': '(0,)', 'is_contiguous()': 'False', names: '(None,)',
    })
    expect(told(alone({ shape: [0, 4] }), 't1')).toMatchObject({ 'stride()': '(4, 1)', nbytes: '0' })
  })

  it('tell devices, layouts and dtypes apart', () => {
    expect(told(alone({ device: 'cuda:1' }), 't1')).toMatchObject({ is_cuda: 'True', is_cpu: 'False' })
    expect(told(alone({ device: 'meta', contents: 'unreadable' }), 't1')).toMatchObject({ is_meta: 'True' })
    expect(told(alone({ layout: 'sparse_coo' }), 't1')).toMatchObject({ is_sparse: 'True', is_sparse_csr: 'False' })
    expect(told(alone({ layout: 'sparse_coo' }), 't1')['stride()']).toBeUndefined()
    expect(told(alone({ dtype: 'quint8' }), 't1')).toMatchObject({ is_quantized: 'True' })
    expect(told(alone({ dtype: 'complex64' }), 't1')).toMatchObject({
      'is_complex()': 'True', 'is_floating_point()': 'False',
    })
    expect(told(alone({ dtype: 'bfloat16' }), 't1')).toMatchObject({ 'is_floating_point()': 'True', itemsize: '2' })
  })

  it('all have their sentence', () => {
    const result = trace.tensors.find((one) => one.grad_fn)!
    for (const field of fieldsOf(index, result, '', '')) {
      const key = `field.${field.inner ? 'grad_fn.' : ''}${field.name.replace('()', '')}`
      expect([key, key in en, key in zh]).toEqual([key, true, true])
    }
  })

  it('leave out what the trace cannot tell', () => {
    expect(told(alone({ is_leaf: false, role: 'result' }, 'y.retain_grad()'), 't1').retains_grad).toBeUndefined()
    expect(told(alone({ is_leaf: false, role: 'result', grad: 't2' }, 'y.retain_grad()'), 't1').retains_grad).toBe(
      'True',
    )
    expect(told(alone({ dtype: 'float8_e8m0fnu' }), 't1').nbytes).toBeUndefined()
    const rename = new TraceIndex({
      ...alone({}).trace,
      ops: [
        {
          id: 'o1', name: 'refine_names', function: 'torch.Tensor.refine_names', arguments: [], inputs: ['t1'],
          outputs: ['t1'], nodes: [],
        },
      ],
    })
    expect(told(rename, 't1').names).toBeUndefined()
  })
})
