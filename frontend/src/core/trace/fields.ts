// The fields of a running tensor, as Python's own attributes say them, from its record.

import type { Node, Tensor } from '../../api/types'
import type { TraceIndex } from './trace-index'

export interface Field {
  /** The attribute as one writes it. */
  name: string
  value: string
  /** Belongs to the field before it: `grad_fn.next_functions`. */
  inner: boolean
}

/** Bytes of one element: a dtype's name ends in its bits, or names a format of eight. */
function itemSize(dtype: string): number | undefined {
  if (dtype === 'bool' || /^float8_e[45]m\d/.test(dtype)) return 1
  const bits = /^[a-z]+(\d+)$/.exec(dtype)?.[1]
  return bits === undefined ? undefined : Math.max(1, Number(bits) / 8)
}

const bool = (value: boolean): string => (value ? 'True' : 'False')

/** `(3,)`, as Python writes a tuple. */
function tuple(items: readonly (string | number)[]): string {
  return items.length === 1 ? `(${items[0]},)` : `(${items.join(', ')})`
}

function contiguous(shape: readonly number[]): number[] {
  const strides: number[] = []
  let step = 1
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    strides.unshift(step)
    step *= Math.max(1, shape[axis]!)
  }
  return strides
}

/** Names of axes come from few calls; a run without them has none. */
const NAMES_AXES = new Set(['rename', 'rename_', 'refine_names', 'align_to', 'align_as'])

function namesAxes(index: TraceIndex): boolean {
  return index.trace.ops.some((op) => NAMES_AXES.has(op.name) || op.arguments.some(({ name }) => name === 'names'))
}

/** What each field holds; `data` and `grad` as the page writes tensors. Fields that the trace cannot tell are left
 *  out. */
export function fieldsOf(index: TraceIndex, tensor: Tensor, data: string, grad: string): Field[] {
  const { shape, dtype } = tensor
  const device = tensor.device ?? 'cpu'
  const layout = tensor.layout ?? 'strided'
  const strided = layout === 'strided' && tensor.contents !== 'unreadable'
  const node = index.node(tensor.grad_fn?.node)
  const base = index.tensor(tensor.base)
  const size = itemSize(dtype)
  const count = shape.reduce((product, one) => product * one, 1)
  const fields: Field[] = []
  const add = (name: string, value: string, inner = false): void => void fields.push({ name, value, inner })
  add('data', data)
  add('dtype', `torch.${dtype}`)
  if (size !== undefined) add('itemsize', String(size))
  if (size !== undefined && strided) add('nbytes', String(size * count))
  add('shape', `torch.Size([${shape.join(', ')}])`)
  add('ndim', String(shape.length))
  if (strided) {
    add('stride()', tuple(tensor.strides ?? contiguous(shape)))
    add('is_contiguous()', bool(tensor.strides == null))
  }
  add('layout', `torch.${layout}`)
  add('device', device)
  add('requires_grad', bool(tensor.requires_grad ?? false))
  add('is_leaf', bool(tensor.is_leaf !== false))
  const retains = retainsGrad(index, tensor)
  if (grad !== 'None' || retains === false) add('grad', grad)
  if (retains !== null) add('retains_grad', bool(retains))
  add('grad_fn', node ? `<${node.type}>` : 'None')
  if (node) {
    add('next_functions', nextFunctions(index, node), true)
    add('requires_grad', 'True', true)
    add('metadata', 'dict', true)
  }
  add('output_nr', String(tensor.grad_fn?.output_nr ?? 0))
  add('_version', String(tensor.version ?? 0))
  add('_base', base ? (base.names?.[0] ?? `torch.Size([${base.shape.join(', ')}])`) : 'None')
  add('is_cpu', bool(device === 'cpu'))
  for (const kind of ['cuda', 'mps', 'xpu', 'meta'])
    add(`is_${kind}`, bool(device === kind || device.startsWith(`${kind}:`)))
  add('is_sparse', bool(layout === 'sparse_coo'))
  add('is_sparse_csr', bool(layout === 'sparse_csr'))
  add('is_mkldnn', bool(layout === '_mkldnn'))
  add('is_quantized', bool(/^qu?int/.test(dtype)))
  add('is_nested', bool(tensor.reason === 'nested tensor'))
  add('is_floating_point()', bool(/^b?float/.test(dtype)))
  add('is_complex()', bool(dtype.startsWith('complex')))
  add('name', 'None')
  if (!namesAxes(index)) add('names', tuple(shape.map(() => 'None')))
  return fields
}

/** Null where the trace cannot tell: `retain_grad()` leaves no record but the gradient it kept. */
function retainsGrad(index: TraceIndex, tensor: Tensor): boolean | null {
  if (tensor.is_leaf !== false || !index.trace.program.code.includes('retain_grad')) return false
  const identity = index.identity(tensor.id)
  return index.trace.tensors.some((other) => other.grad != null && index.identity(other.id) === identity) ? true : null
}

function nextFunctions(index: TraceIndex, node: Node): string {
  return tuple(
    node.edges.map(
      (edge) => `(${edge.to == null ? 'None' : (index.node(edge.to)?.type ?? edge.to)}, ${edge.input_nr})`,
    ),
  )
}
