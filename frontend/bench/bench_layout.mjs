// Prints what laying out graphs of 1,000 and 10,000 nodes costs, in processor time of a fresh process: `node
// bench/bench_layout.mjs`.

import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'vite'

const here = dirname(fileURLToPath(import.meta.url))
const CASES = [
  ['gpt', 1000, 'expanded'],
  ['gpt', 10000, 'expanded'],
  ['gpt', 10000, 'folded'],
  ['chain', 1000, 'expanded'],
  ['chain', 10000, 'expanded'],
  ['chain', 10000, 'folded'],
  ['mlp', 980, 'expanded'],
  ['rnn', 1000, 'expanded'],
]

/** Each case in its own process, so that no case warms up another. */
async function report() {
  const folder = await mkdtemp(join(tmpdir(), 'gradgraph-bench-'))
  const entry = {
    layout: 'src/core/layout/layout.ts',
    fold: 'src/core/layout/fold.ts',
    opening: 'src/core/layout/opening.ts',
  }
  const [{ output }] = await build({
    root: join(here, '..'),
    configFile: false,
    logLevel: 'silent',
    build: { write: false, target: 'es2022', lib: { entry, formats: ['es'], fileName: (_, name) => `${name}.mjs` } },
  })
  for (const chunk of output) await writeFile(join(folder, chunk.fileName), chunk.code)
  console.log('graph  nodes   groups    CPU ms  again ms  boxes  wires')
  for (const [shape, size, fold] of CASES) {
    process.stdout.write(
      execFileSync(process.execPath, [fileURLToPath(import.meta.url), folder, shape, String(size), fold]),
    )
  }
  await rm(folder, { recursive: true })
}

async function measure(folder, shape, size, fold) {
  const { layout } = await import(pathToFileURL(join(folder, 'layout.mjs')))
  const { sheetOf } = await import(pathToFileURL(join(folder, 'fold.mjs')))
  const { openingChoice } = await import(pathToFileURL(join(folder, 'opening.mjs')))
  const graph = SHAPES[shape](Number(size))
  const sheet = sheetOf(graph)
  const input = sized(sheet, fold === 'folded' ? openingChoice(sheet) : sheet.groups.keys())
  const [first, result] = timed(() => layout(input))
  const [again] = timed(() => layout(input))
  const row = [
    shape.padEnd(6),
    String(graph.boxes.length).padStart(5),
    fold.padStart(9),
    first.toFixed(0).padStart(9),
    again.toFixed(0).padStart(9),
    String(result.boxes.length).padStart(6),
    String(result.wires.length).padStart(6),
  ]
  console.log(row.join(' '))
}

/** Every box as large as one with two thumbnails, every link with a shape and a norm. */
function sized(sheet, expanded) {
  const label = [{ w: 44, h: 14 }]
  const parent = (id) => sheet.parents.get(id) ?? ''
  return {
    boxes: [...sheet.boxes.keys()].map((id) => ({ id, parent: parent(id), w: 312, h: 59, side: 8, tail: 0 })),
    groups: [...sheet.groups.keys()].map((id) => ({
      id,
      parent: parent(id),
      w: 312,
      h: 59,
      side: 8,
      tail: 6,
      header: 140,
    })),
    links: sheet.links.map((link) => ({
      id: link.id,
      source: link.source,
      target: link.target,
      value: link.tensor,
      forward: label,
      gradient: label,
      badge: null,
    })),
    expanded: [...expanded],
    gap: 28,
  }
}

function timed(work) {
  const start = process.cpuUsage()
  const result = work()
  const { user, system } = process.cpuUsage(start)
  return [(user + system) / 1000, result]
}

function maker() {
  const [boxes, groups, links] = [[], [], []]
  return {
    input: { boxes, groups, links },
    group(id, parent) {
      groups.push({ id, title: id, type: '', kind: 'module', parent: parent || null })
      return id
    },
    box(parent, ...sources) {
      const id = `n${boxes.length}`
      boxes.push({ id, kind: 'op', title: 'op', name: '', family: 'op', group: parent || null })
      for (const source of sources) links.push({ source, target: id, kind: 'data', tensor: source })
      return id
    },
  }
}

const SHAPES = { gpt, chain, mlp, rnn }

/** Transformer blocks with residual lanes; every linear is four nodes in a group of its own. */
function gpt(size) {
  const make = maker()
  const linear = (id, parent, x) => {
    const group = make.group(id, parent)
    return ['view', 't', 'addmm', 'view'].reduce((last) => make.box(group, last), x)
  }
  let x = make.box('')
  for (let at = 0; make.input.boxes.length < size; at++) {
    const block = make.group(`b${at}`, '')
    const attention = make.group(`b${at}.attn`, block)
    const n1 = make.box(block, x)
    const [q, k, v] = ['q', 'k', 'v'].map((name) => linear(`b${at}.attn.${name}`, attention, n1))
    const kt = make.box(attention, k)
    const scores = make.box(attention, q, kt)
    const soft = make.box(attention, make.box(attention, scores))
    const mixed = make.box(attention, soft, v)
    const added = make.box(block, x, linear(`b${at}.attn.o`, attention, mixed))
    const n2 = make.box(block, added)
    const network = make.group(`b${at}.mlp`, block)
    const hidden = make.box(network, linear(`b${at}.mlp.fc1`, network, n2))
    x = make.box(block, added, linear(`b${at}.mlp.fc2`, network, hidden))
  }
  return make.input
}

/** A scalar loop without groups of its own beyond runs of 40. */
function chain(size) {
  const make = maker()
  let x = make.box('')
  for (let at = 0; make.input.boxes.length < size; at++) {
    const outer = at % 40 === 0 ? make.group(`o${at / 40}`, '') : `o${Math.floor(at / 40)}`
    const group = make.group(`g${at}`, outer)
    for (let step = 0; step < 20; step++) x = make.box(group, x, ...(step % 5 === 4 ? [x] : []))
  }
  return make.input
}

/** Scalar neurons, each a group: products, sums, an activation. */
function mlp(size) {
  const make = maker()
  let layer = [make.box(''), make.box('')]
  for (let depth = 0; make.input.boxes.length < size; depth++) {
    const parent = make.group(`l${depth}`, '')
    const inputs = layer
    layer = Array.from({ length: 16 }, (_, at) => {
      const neuron = make.group(`l${depth}.${at}`, parent)
      const products = inputs.map((input) => make.box(neuron, input))
      return make.box(
        neuron,
        products.reduce((sum, product) => make.box(neuron, sum, product)),
      )
    })
  }
  return make.input
}

/** One cell per time step, the leaf repeated at each use. */
function rnn(size) {
  const make = maker()
  let state = make.box('')
  for (let at = 0; make.input.boxes.length < size; at++) {
    const cell = make.group(`t${at}`, '')
    const seen = make.box(cell, make.box(cell))
    const kept = make.box(cell, state, make.box(cell))
    state = make.box(cell, make.box(cell, seen, kept))
  }
  return make.input
}

if (process.argv.length > 3) await measure(...process.argv.slice(2))
else await report()
