import { describe, expect, test } from 'vitest'
import type { Trace } from '../../api/types'
import { Bindings } from './bindings'
import { TraceIndex } from './trace-index'

/** What `y` stands for after each step of a program; an op is `[line, output]` and what it is given, all of them called
 *  `y` but for `x`, of rank 1 where it ends in `'`; one without an output is a pass that begins at what it is given. */
function told(code: string, steps: [line: number, output: string, ...inputs: string[]][], last: string): unknown[] {
  const lines = code.split('\n')
  const placed = ([line]: [number, ...string[]]) => ({
    line, end_line: line, column: 0, end_column: lines[line - 1]!.length,
  })
  const ops = steps.filter(([, output]) => output)
  const passes = steps.flatMap((step, at) =>
    step[1] ? [] : [{ id: `p${at}`, span: placed(step), roots: [{ tensor: step[2] }], visits: [], accumulations: [] }],
  )
  const trace = {
    program: { code },
    tensors: ops.map(([, id]) => ({ id, names: [id.startsWith('x') ? 'x' : 'y'] })),
    ops: ops.map(([line, output, ...inputs], at) => ({
      id: `o${at}`, name: 'mul', inputs, outputs: [output], rank: Number(output.endsWith("'")),
      iteration: ops.slice(0, at).filter((op) => op[0] === line).length,
      span: placed([line]),
    })),
    timeline: steps.map((step, at) => ({
      ...(step[1] ? { kind: 'op', op: `o${ops.indexOf(step)}` } : { kind: 'pass', pass: `p${at}` }),
      span: { line: step[0], end_line: step[0], column: 0, end_column: 1 },
    })),
    nodes: [], passes, updates: [], modules: [],
  } as unknown as Trace
  const index = new TraceIndex(trace)
  const named = (name: string) => trace.tensors.filter(({ names }) => names?.includes(name))
  const bindings = new Bindings(index, (tensor) => index.stepOfOp.get(index.producer(tensor)!.id)!, named)
  const variable = { name: 'y', kind: 'tensor', type: 'Tensor', tensor: last } as const
  return steps.map((_, at) => bindings.at(variable, at + 1))
}

describe('a name stands for', () => {
  test('what the op of its latest assignment gave', () => {
    expect(told('x = a()\ny = x * 2\ny = y * 3', [[1, 'x1'], [2, 'y1', 'x1'], [3, 'y2', 'y1']], 'y2')).toEqual([
      null, 'y1', 'y2',
    ])
  })

  test('what rank 0 calls so, where other ranks run the same lines', () => {
    expect(told('y = a()\nx = y * 2', [[1, 'y1'], [1, "y1'"], [2, 'x1', 'y1'], [2, "x1'", "y1'"]], 'y1')).toEqual([
      'y1', 'y1', 'y1', 'y1',
    ])
  })

  test('what is written into under its name', () => {
    const code = 'x = a()\ny = x * 2\ny -= x\nx = x + 1'
    expect(told(code, [[1, 'x1'], [2, 'y1', 'x1'], [3, 'y1', 'y1', 'x1'], [4, 'x2', 'x1']], 'y1')).toEqual([
      null, 'y1', 'y1', 'y1',
    ])
  })

  test('nothing that a function calls by the same name', () => {
    expect(told('def f():\n    y = a()\ny = a()\nx = f()', [[3, 'y1'], [2, 'y2']], 'y1')).toEqual(['y1', 'y1'])
  })

  test('what a function gave, once the line after it says so', () => {
    const code = 'def f(x):\n    return x * 2\nx = a()\ny = f(x)\ny * 3'
    expect(told(code, [[3, 'x1'], [2, 'y1', 'x1'], [5, 'x2', 'y1']], 'y1')).toEqual([null, null, 'y1'])
  })

  test('what a function gave, once backward begins at it', () => {
    const code = 'def f(x):\n    return x * 2\nx = a()\nfor _ in b:\n    y = f(x)\n    y.backward()'
    const turn = (n: number): [number, string, ...string[]][] => [[2, `y${n}`], [6, '', `y${n}`]]
    expect(told(code, [[3, 'x0'], ...turn(1), ...turn(2)], 'y2')).toEqual([null, null, 'y1', null, 'y2'])
  })

  test('nothing known in a loop between a call and the next use', () => {
    const code = 'def f(x):\n    return x * 2\nx = a()\nfor _ in b:\n    y = f(x)\n    x = y * 3'
    const turn = (n: number): [number, string, ...string[]][] => [[2, `y${n}`], [6, `x${n}`, `y${n}`]]
    expect(told(code, [[3, 'x0'], ...turn(1), ...turn(2)], 'y2')).toEqual([null, null, 'y1', null, 'y2'])
  })

  test('what it was until the program has passed the line that gives it another name’s tensor', () => {
    const code = 'y = a()\nx = a()\ny = x\nx = a()'
    expect(told(code, [[1, 'y1'], [2, 'x1'], [4, 'x2']], 'x1')).toEqual(['y1', 'y1', 'x1'])
  })

  test('nothing known where functions bind it too', () => {
    expect(told('def f():\n    global y\n    y = a()\ny = a()', [[4, 'y1']], 'y1')).toEqual([null])
  })
})
