// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Trace } from '../../api/types'
import { LAST } from '../../core/address'
import { load } from '../../core/fixtures/load'
import { until } from '../../core/fixtures/until'
import { Hand } from './hand'
import { playground, type Playground } from './playground'

const { trace, graph } = load('broadcasting')
const NOTHING = { ...graph, boxes: [], edges: [], groups: [] }
const FAILURE: Trace['failure'] = { kind: 'syntax', type: 'SyntaxError', message: "'(' was never closed" }
let frames: FrameRequestCallback[] = []

/** A server that answers each run with the next of these. */
function serving(...traces: Trace[]): void {
  const left = [...traces]
  vi.stubGlobal('fetch', () => {
    const next = left.shift()!
    const headers = {
      'Content-Type': 'application/vnd.gradgraph.shown+json', 'Content-Location': `/api/v1/runs/${next.id}`,
    }
    return Promise.resolve(
      new Response(JSON.stringify({ trace: next, graph: next.failure ? NOTHING : { ...graph, run: next.id } }), {
        headers,
      }),
    )
  })
}

function paint(): void {
  for (const frame of frames.splice(0)) frame(0)
}

function drawn(page: Playground, id: string): Promise<void> {
  return until(() => expect(page.run.seen?.trace.id).toBe(id))
}

/** A page that shows `one`, and is about to show `two`, which has come. */
async function between(): Promise<{ page: Playground; done: Promise<void> }> {
  serving({ ...trace, id: 'one' }, { ...trace, id: 'two' }, { ...trace, id: 'three' })
  const page = playground()
  page.draft.code = trace.program.code
  await page.runner.run()
  return { page, done: page.runner.run() }
}

beforeEach(() => {
  localStorage.setItem('gradgraph.questions', 'off')
  vi.stubGlobal('requestAnimationFrame', (frame: FrameRequestCallback) => frames.push(frame))
})

afterEach(() => {
  frames = []
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
  localStorage.clear() // files share a window
})

test('the picture and the rest of the page turn to a run at once', async () => {
  const { page, done } = await between()
  const { run, view, runner } = page
  const told = vi.spyOn(view, 'change')
  await done
  expect(told.mock.lastCall?.[0].run).toBe('two')
  expect([run.trace?.id, run.graph?.run, run.seen?.graph.run, view.state.run]).toEqual(['two', 'two', 'two', 'two'])
  expect([frames, runner.running]).toEqual([[], 'no'])
})

test('at the end of a model it is told of where its pass began, of a small graph of the leaf it ended at', async () => {
  const told = async (name: Parameters<typeof load>[0]) => {
    const run = load(name)
    const page = playground()
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify(run), {
      headers: { 'Content-Type': 'application/vnd.gradgraph.shown+json', 'Content-Location': '/api/v1/runs/r' },
    })))
    page.draft.code = run.trace.program.code
    await page.runner.run()
    page.view.change({ step: run.trace.timeline.length })
    const { node } = page.view.toldBox!
    const [first] = run.trace.passes
    return [
      node === first!.roots[0]!.node, node === first!.accumulations.at(-1)!.node, page.view.opensAt?.node === node,
    ]
  }
  expect([await told('attention'), await told('broadcasting')]).toEqual([[true, false, false], [false, true, true]])
})

test('what named parts of the last run goes with it', async () => {
  const { page, done } = await between()
  const { view } = page
  const selection = { kind: 'box', id: graph.boxes[0]!.id } as const
  const follow = (): void => {
    view.select(selection)
    view.returning = { id: 'x', name: 'x.grad' }
    view.unasked = view.state.selection
    view.speakOf({ boxes: new Set(['x']), lines: [1] })
    view.toggleWay('after')
  }
  const left = () => [view.returning, view.unasked, view.spokenOf, view.litLines.size, view.way]
  follow()
  await done
  expect(left()).toEqual([null, null, null, 0, null])
  follow()
  page.runner.blank()
  expect(left()).toEqual([null, null, null, 0, null])
})

test('where to go back to goes with any other selection, and stays while a number turns', async () => {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  const { page, asked } = await turning()
  const { view } = page
  const returning = { id: 'x', name: 'x.grad' }
  view.returning = returning
  page.runner.turn('x = 2', 1)
  asked[1]!.answer()
  await until(() => expect(page.run.trace?.id).toBe('x = 2'))
  expect(view.returning).toBe(returning)
  view.change({ step: 1 })
  expect(view.returning).toBe(returning)
  view.choose({ level: 'forward' })
  expect(view.returning).toBeNull()
})

test('what is chosen meanwhile is kept', async () => {
  const { page, done } = await between()
  page.playback.goTo(3)
  const selection = { kind: 'box', id: graph.boxes[0]!.id } as const
  page.view.select(selection)
  await done
  expect([page.view.state.step, page.view.state.selection]).toEqual([3, selection])
})

test('what is left of a picture where a program does not parse ends at an open question, as it did', async () => {
  serving({ ...trace, id: 'one' }, { ...trace, id: 'two', status: 'failed', failure: FAILURE, ops: [], timeline: [] })
  const page = playground()
  const end = trace.timeline.length - 2
  vi.spyOn(page.questions, 'endOf').mockReturnValue(end)
  page.draft.code = trace.program.code
  await page.runner.run()
  await page.runner.run()
  expect(page.run.whole?.id).toBe('two')
  expect([page.run.stale?.trace.id, page.run.stale?.trace.timeline.length]).toEqual(['one', end])
})

test('of another program that does not parse nothing of the one before is left', async () => {
  const program = { ...trace.program, code: 'import torch\ny = (' }
  const broken = { ...trace, id: 'two', program, failure: FAILURE, ops: [], timeline: [] }
  serving({ ...trace, id: 'one' }, { ...broken, status: 'failed' })
  const page = playground()
  page.draft.code = trace.program.code
  await page.runner.run()
  await page.runner.run()
  expect([page.run.whole?.id, page.run.stale]).toEqual(['two', null])
})

test('an answer that comes as the page is emptied is not shown', async () => {
  const asked = slowly()
  const page = playground()
  page.draft.code = 'x = 1'
  const done = page.runner.run()
  asked[0]!.answer()
  page.runner.blank()
  await done
  expect([page.run.trace, page.run.seen, page.view.state.run]).toEqual([null, null, null])
})

test('where less happened, the step is the last there is', async () => {
  serving({ ...trace, id: 'one' }, { ...trace, id: 'two', timeline: trace.timeline.slice(1) })
  const page = playground()
  page.draft.code = trace.program.code
  await page.runner.run()
  await page.runner.run()
  expect([page.run.trace?.id, page.view.state.step]).toEqual(['two', trace.timeline.length - 1])
})

test('the pass that was looked at is not asked of the next run', async () => {
  const { trace: passes } = load('accumulation')
  const asked: string[] = []
  const answers = [passes, trace]
  vi.stubGlobal('fetch', (path: string) => {
    asked.push(path)
    // an earlier page asks again, and one whose run takes long where it stands
    if (/\/(fixes|mine)$/.test(path)) return Promise.reject(new TypeError('not here'))
    if (path.includes('/graph')) return Promise.resolve(new Response(JSON.stringify(graph)))
    const next = answers.shift()!
    const headers = { 'Content-Location': `/api/v1/runs/${next.id}` }
    return Promise.resolve(new Response(JSON.stringify(next), { headers }))
  })
  const page = playground()
  page.draft.code = passes.program.code
  await page.runner.run()
  page.view.choose({ pass: passes.passes[0]!.id, root: 'n1' })
  page.draft.code = trace.program.code
  await page.runner.run()
  await until(() => expect(asked.filter((path) => path.includes(`${trace.id}/graph`))).toEqual([
    `/api/v1/runs/${trace.id}/graph?level=both`,
  ]))
  expect([page.view.state.pass, page.view.state.root]).toEqual([null, null])
})

test('another program leaves the lesson, an edit of it does not', async () => {
  serving({ ...trace, id: 'one' }, { ...trace, id: 'two' }, { ...trace, id: 'three' })
  const page = playground()
  const said = { title: 'A lesson', text: [] }
  const lesson = { name: 'lesson', run: 'one', code: trace.program.code, chapter: '', zh: said, en: said }
  page.catalogue.lessons = [lesson]
  await page.runner.openLesson(lesson)
  page.draft.code = `${trace.program.code}\nprint(1)`
  const edited = page.runner.run()
  await drawn(page, 'two')
  paint()
  await edited
  expect(page.catalogue.lesson).toBe(lesson)
  page.draft.code = 'print(1)'
  const other = page.runner.run()
  await drawn(page, 'three')
  paint()
  await other
  expect([page.catalogue.lesson, page.view.state.lesson]).toEqual([null, null])
})

test('a first visit finds an example, but not over a program that is being begun', async () => {
  const said = { title: 'A lesson', text: [] }
  const asked = slowly()
  const editor = document.body.appendChild(document.createElement('div'))
  editor.className = 'cm-editor'
  editor.innerHTML = '<button></button>'
  for (const isWriting of [true, false]) {
    if (isWriting) editor.querySelector('button')!.focus()
    else editor.remove()
    localStorage.clear()
    const page = playground()
    page.catalogue.lessons = [{ name: 'diamond', run: 'one', code: 'x = 1', chapter: '', zh: said, en: said }]
    const started = page.runner.start({})
    if (!isWriting) await until(() => asked[0]!.answer())
    await started
    expect(page.draft.code).toBe(isWriting ? '' : 'x = 1')
  }
})

test('a run whose address names no step is seen at its end, and at the one that is named else', async () => {
  vi.stubGlobal('fetch', (path: string) => {
    const found = /\/runs\/[^/]+(\/graph)?(\?|$)/.exec(path)
    if (!found) return Promise.reject(new TypeError('not here'))
    return Promise.resolve(new Response(JSON.stringify(found[1] ? graph : trace)))
  })
  for (const [step, seen] of [[LAST, trace.timeline.length], [0, 0], [3, 3]] as const) {
    const page = playground()
    const started = page.runner.start({ run: trace.id, step })
    expect(page.view.state.step).toBe(step === LAST ? 0 : step)
    await started
    expect([page.run.trace?.id, page.view.state.step]).toEqual([trace.id, seen])
  }
})

/** A server that answers when it is told to, each run with a trace of its program. */
function slowly() {
  const asked: { code: string; signal: AbortSignal; answer: (part?: Partial<Trace>) => void }[] = []
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => {
    if (path.endsWith('/fixes')) return Promise.reject(new TypeError('not here'))
    const { code } = JSON.parse(init.body as string) as { code: string }
    const headers = { 'Content-Type': 'application/vnd.gradgraph.shown+json' }
    return new Promise((resolve, reject) => {
      init.signal!.addEventListener('abort', () => reject(new DOMException('', 'AbortError')))
      const answer = (part: Partial<Trace> = {}): void => {
        const made = { ...trace, id: code, program: { ...trace.program, code }, ...part }
        resolve(new Response(JSON.stringify({ trace: made, graph: { ...graph, run: code } }), { headers }))
      }
      asked.push({ code, signal: init.signal!, answer })
    })
  })
  return asked
}

/** A page that shows `x = 1`. */
async function turning() {
  const asked = slowly()
  const page = playground()
  page.draft.code = 'x = 1'
  const done = page.runner.run()
  asked[0]!.answer()
  await done
  return { page, asked }
}

test('what would move under a pointer waits until it lets go', async () => {
  vi.useFakeTimers()
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  const { page, asked } = await turning()
  const hand = new Hand(() => 'x = 2', true)
  page.runner.turn('x = 2', 1, hand)
  asked[1]!.answer()
  await vi.advanceTimersByTimeAsync(5000)
  expect([page.run.trace?.id, page.draft.held, page.draft.turning]).toEqual(['x = 2', true, true])
  hand.letGo()
  await vi.advanceTimersByTimeAsync(1000)
  expect([page.draft.held, page.draft.turning]).toEqual([false, false])
  page.runner.turn('x = 3', 2, new Hand(() => 'x = 3'))
  asked[2]!.answer()
  await vi.advanceTimersByTimeAsync(1000)
  expect([page.draft.held, page.draft.turning]).toEqual([false, false])
  vi.restoreAllMocks()
  vi.useRealTimers()
})

test('while one value is under way the newest waits for it, and those between are forgotten', async () => {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  const { page, asked } = await turning()
  page.playback.goTo(3)
  for (const code of ['x = 2', 'x = 3', 'x = 4']) page.runner.turn(code, 1)
  expect(page.draft.edited).toBe(false)
  asked[1]!.answer()
  await until(() => expect(asked).toHaveLength(3))
  asked[2]!.answer()
  await until(() => expect(page.run.trace?.id).toBe('x = 4'))
  await until(() => expect(page.runner.running).toBe('no'))
  expect(asked.map(({ code }) => code)).toEqual(['x = 1', 'x = 2', 'x = 4'])
  expect(page.view.state.step).toBe(3)
  vi.restoreAllMocks()
})

test('what is turned to while the last answer is painted is run too', async () => {
  const { page, asked } = await turning()
  page.runner.turn('x = 2', 1)
  asked[1]!.answer()
  await drawn(page, 'x = 2')
  page.runner.turn('x = 3', 1)
  paint()
  await until(() => expect(asked).toHaveLength(3))
  asked[2]!.answer()
  await drawn(page, 'x = 3')
})

test('a value ahead of the hand is run before it is there, and shown once it is', async () => {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  const { page, asked } = await turning()
  const hand = new Hand((at) => `x = ${1 + at / 10}`)
  const turn = (at: number): void => {
    hand.move(at, 10, 5 * at)
    page.runner.turn(`x = ${1 + at / 10}`, 1, hand)
  }
  const now = vi.spyOn(performance, 'now').mockReturnValue(100)
  for (const at of [10, 20]) turn(at)
  asked[1]!.answer()
  await until(() => expect(asked).toHaveLength(3))
  asked[2]!.answer()
  await until(() => expect(page.run.seen?.trace.id).toBe('x = 2'))
  expect(asked[2]!.code).toBe('x = 4')
  for (const at of [30, 40]) turn(at)
  await until(() => expect(page.run.seen?.trace.id).toBe('x = 4'))
  now.mockReturnValue(9000)
  await until(() => {
    asked.at(-1)!.answer()
    expect(page.runner.running).toBe('no')
  })
  expect([page.run.trace?.id, page.draft.code]).toEqual(['x = 5', 'x = 5'])
  vi.restoreAllMocks()
})

test('a value whose run is stopped is an edit of what is on screen', async () => {
  const { page } = await turning()
  page.runner.turn('x = 2', 1)
  await page.runner.halt()
  expect([page.draft.edited, page.run.trace?.id]).toEqual([true, 'x = 1'])
})

test('a value that is overdue is given up for a newer one', async () => {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  const { page, asked } = await turning()
  page.runner.turn('x = 2', 1)
  const later = performance.now() + 5000
  vi.spyOn(performance, 'now').mockReturnValue(later)
  page.runner.turn('x = 3', 1)
  await until(() => expect(asked).toHaveLength(3))
  expect(asked[1]!.signal.aborted).toBe(true)
  asked[2]!.answer()
  await until(() => expect(page.run.trace?.id).toBe('x = 3'))
  vi.restoreAllMocks()
})

test('where a value fails the last good picture stays, until one does not', async () => {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  const { page, asked } = await turning()
  page.runner.turn('x = 2', 1)
  asked[1]!.answer({ status: 'failed' })
  await until(() => expect(page.run.failing?.trace.id).toBe('x = 2'))
  await until(() => expect(page.runner.running).toBe('no'))
  expect([page.run.trace?.id, page.draft.edited]).toEqual(['x = 1', true])
  page.runner.turn('x = 3', 1)
  asked[2]!.answer()
  await until(() => expect(page.run.trace?.id).toBe('x = 3'))
  expect([page.run.failing, page.draft.edited]).toEqual([null, false])
  vi.restoreAllMocks()
})

test('a failing value is told for its own program alone, and undone by a run like any other', async () => {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  const { page, asked } = await turning()
  const fails = async (code: string, n: number): Promise<void> => {
    page.runner.turn(code, n)
    asked[n]!.answer({ status: 'failed' })
    await until(() => expect(page.run.failing?.trace.id).toBe(code))
    await until(() => expect(page.runner.running).toBe('no'))
  }
  await fails('x = 2', 1)
  page.runner.edit('x = 1', true)
  expect(page.draft.failing?.trace.id).toBe('x = 2') // until the picture is there
  await until(() => expect(asked).toHaveLength(3))
  asked[2]!.answer()
  await until(() => expect(page.runner.running).toBe('no'))
  expect([page.draft.failing, page.draft.edited, page.run.trace?.id]).toEqual([null, false, 'x = 1'])
  await fails('x = 3', 3)
  page.runner.edit('y = 3', false)
  expect([page.draft.failing, asked.length]).toEqual([null, 4])
  page.runner.edit('y = 4', true)
  expect([page.draft.edited, asked.length]).toEqual([true, 4])
  page.runner.turn('x = 1', 4)
  expect(page.draft.failing).toBeNull()
  vi.restoreAllMocks()
})

test('another program is not seen by what was chosen for the last one, an edit of it is', async () => {
  const code = 'a = 1\nb = 2\nc = 3'
  const other = { ...trace, id: 'other', program: { ...trace.program, code: 'd = 4\ne = 5' } }
  const own = (id: string) => ({ ...trace, id, program: { ...trace.program, code } })
  serving(own('one'), { ...own('two'), program: { ...trace.program, code: `${code}0` } }, other)
  const page = playground()
  const run = async (text: string): Promise<unknown[]> => {
    page.draft.code = text
    await page.runner.run()
    return [page.view.state.run, page.view.state.level, page.view.state.panel]
  }
  await run(code)
  page.view.change({ level: 'autograd', panel: 'ledger' })
  expect(await run(`${code}0`)).toEqual(['two', 'autograd', 'ledger'])
  expect(await run(other.program.code)).toEqual(['other', 'both', null])
})
