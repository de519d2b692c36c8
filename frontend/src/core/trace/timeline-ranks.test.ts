import { expect, test } from 'vitest'
import { load } from '../fixtures/load'
import { Track } from './timeline'
import { laneTicks, lanesOf, meetingLines, tracks, waitLines, yOf } from './timeline-ranks'
import { TraceIndex } from './trace-index'

const { trace } = load('distributed_data_parallel')
const index = new TraceIndex(trace)
const lanes = lanesOf(index)!
const [high, low] = [0, 1].map((lane) => yOf(lanes, lanes.of.indexOf(lane)))
const stepsOf = (name: string): number[] =>
  trace.ops.filter((op) => op.name === name && op.collective).map(({ id }) => index.stepOfOp.get(id)!)

test('every rank has a lane, and what started them stands between', () => {
  expect(lanes.ranks).toEqual([0, 1])
  trace.ops.forEach(({ id, rank }) => expect(lanes.of[index.stepOfOp.get(id)! - 1]).toBe(rank ?? 0.5))
  expect(lanes.of.slice(0, lanes.first - 1).every((lane) => lane === 0.5)).toBe(true)
  trace.output.forEach(({ rank }, number) => {
    const at = trace.timeline.findIndex(({ kind, index }) => kind === 'output' && index === number)
    expect(lanes.of[at]).toBe(rank)
  })
})

test('a run of one process has no lanes', () => {
  expect(lanesOf(new TraceIndex(load('accumulation').trace))).toBeUndefined()
})

test('ranks meet at the step of the first that goes on, and only who was there before has waited', () => {
  const steps = stepsOf('all_reduce')
  const first = Math.min(...steps)
  const meeting = lanes.meetings.at(-1)!
  expect(meeting.at.map(({ step }) => step)).toEqual([first, first])
  expect(meeting.at.map(({ lane }) => lane).sort()).toEqual([0, 1])
  const wait = lanes.waits.at(-1)!
  expect([wait.lane, lanes.of.slice(wait.to - 1, first)]).toEqual([0, Array(first - wait.to + 1).fill(0)])
  const between = lanes.of.slice(wait.from, wait.to - 1)
  expect(between.length).toBeGreaterThan(0)
  expect(between.every((lane) => lane === 1)).toBe(true)
})

test('lines stand at their steps: meetings across the lanes, waits along one', () => {
  const track = new Track(index, 60, 1060)
  const x = (step: number): string => track.at(step).toFixed(1)
  const first = Math.min(...stepsOf('all_reduce'))
  const wait = lanes.waits.at(-1)!
  expect(meetingLines(lanes, track)).toContain(`M${x(first)} ${high}L${x(first)} ${low}`)
  expect(waitLines(lanes, track)).toContain(`M${x(wait.from)} ${high}H${x(wait.to)}`)
  expect(tracks(lanes, track, 60)).not.toContain(`H${x(lanes.last)}`)
})

test('ticks stand in the lanes of their steps, each once', () => {
  const path = laneTicks(index, lanes, new Track(index, 0, 100), false)
  for (const y of [high!, low!]) expect(path).toContain(` ${y + 3}v5`)
  expect(new Set(path.split('M')).size).toBe(path.split('M').length)
})
