// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Trace } from '../../api/types'
import { load } from '../../core/fixtures/load'
import { fillingsOf } from '../../core/trace/filling'
import { lineOf } from '../../core/trace/lines'
import { playground, type Playground } from './playground'

const { trace } = load('accumulation')

/** A page that shows a run of so many steps. */
function page(steps: number): Playground {
  const timeline = Array.from({ length: steps }, (_, at) => trace.timeline[at % trace.timeline.length]!)
  const made = playground()
  const long: Trace = { ...trace, timeline }
  made.run.shown = { trace: long, graph: load('accumulation').graph }
  return made
}

beforeEach(() => {
  localStorage.setItem('gradgraph.questions', 'off')
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  localStorage.clear() // files share a window
})

test('a long run is played in 12 s, also where painting a step takes three times its share', () => {
  const { playback } = page(1200)
  vi.spyOn(performance, 'now').mockImplementation(() => 3 * Date.now())
  playback.play(true)
  vi.advanceTimersByTime(2000)
  expect(playback.step / 1200).toBeCloseTo(0.5, 1)
  vi.advanceTimersByTime(2200)
  expect([playback.step, playback.playing]).toEqual([1200, false])
})

test('a short run shows every step, however long one takes', () => {
  const { playback } = page(5)
  vi.spyOn(performance, 'now').mockImplementation(() => 10 * Date.now())
  playback.play(true)
  vi.advanceTimersByTime(250)
  expect(playback.step).toBe(1)
  vi.advanceTimersByTime(700)
  expect(playback.step).toBe(2)
})

test('playing halts at a line that makes a layer once the layer is filled', async () => {
  const { playback, run } = page(0)
  run.shown = load('attention')
  const { first, last } = fillingsOf(run.index!)[0]!
  await playback.toggleHalt(lineOf(run.index!, first)!)
  playback.play(true)
  vi.advanceTimersByTime(60_000)
  expect([playback.step, playback.playing]).toEqual([last, false])
})

test('a line that has no step to halt at or to go to is shown, so that the inspector says it', async () => {
  const { playback, run, view } = page(trace.timeline.length)
  const lines = run.trace!.program.code.split('\n')
  const [runs, idle] = [lines.findIndex((line) => line.startsWith('second =')) + 1, lines.indexOf('') + 1]
  for (const ask of [(line: number) => playback.toggleHalt(line), (line: number) => playback.jumpToLine(line)]) {
    view.select(null)
    await ask(runs)
    expect(view.state.selection).toBeNull()
    await ask(idle)
    expect(view.state.selection).toEqual({ kind: 'line', line: idle })
  }
  expect([...playback.haltLines]).toEqual([runs])
})
