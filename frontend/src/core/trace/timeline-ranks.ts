// The timeline of several ranks: a lane for each, where it waits for others, and where they meet.

import { push, type TraceIndex } from './trace-index'
import { rankOf } from './story'
import { isAbove, type Track } from './timeline'

export const LANE = 26

export interface RankLanes {
  ranks: readonly number[]
  /** The lane of each step; that of what the program did before and after its ranks is between them. */
  of: readonly number[]
  /** The steps of the first rank to begin and the last to end. */
  first: number
  last: number
  meetings: readonly Meeting[]
  waits: readonly Wait[]
}

/** Where calls of one collective stand: at one step, or for a message where it was sent and where it was taken. */
interface Meeting {
  at: readonly { step: number; lane: number }[]
}

interface Wait {
  lane: number
  from: number
  to: number
}

/** Nothing where there are not several ranks. */
export function lanesOf(index: TraceIndex): RankLanes | undefined {
  const { timeline } = index.trace
  const rankAt = timeline.map((step) => rankOf(index, step) ?? null)
  const ranks = [...new Set(rankAt.filter((rank) => rank !== null))].sort((a, b) => a - b)
  if (ranks.length < 2) return undefined
  const lane = new Map<number | null, number>(ranks.map((rank, at) => [rank, at]))
  const of = rankAt.map((rank) => lane.get(rank) ?? (ranks.length - 1) / 2)
  const isRanks = (rank: number | null): boolean => rank !== null
  return {
    ranks, of, first: rankAt.findIndex(isRanks) + 1, last: rankAt.findLastIndex(isRanks) + 1, ...meetingsIn(index, of),
  }
}

interface Call {
  step: number
  name: string
  /** A rank has its turn until it waits for others: where this turn began, and where the one before ended. */
  turn: Turn
  /** Whether the turn began with it, so that the rank had waited for it. */
  isFirst: boolean
}

interface Turn {
  lane: number
  began: number
  before: number | undefined
  calls: number
}

function meetingsIn(index: TraceIndex, of: readonly number[]): Pick<RankLanes, 'meetings' | 'waits'> {
  const met = new Map<string, Call[]>()
  const ended = new Map<number, number>()
  let turn: Turn | undefined
  index.trace.timeline.forEach((event, at) => {
    const lane = of[at]!
    if (turn?.lane !== lane) turn = { lane, began: at + 1, before: ended.get(lane), calls: 0 }
    ended.set(lane, at + 1)
    const op = event.kind === 'op' ? index.op(event.op) : undefined
    if (op?.collective == null) return
    push(met, op.collective, { step: at + 1, name: op.name, turn, isFirst: turn.calls === 0 })
    turn.calls += 1
  })
  const several = [...met.values()].filter((calls) => calls.length > 1)
  return { meetings: several.map(meetingOf), waits: several.flatMap(waitsFor) }
}

function meetingOf(calls: readonly Call[]): Meeting {
  const isMessage = calls.some(({ name }) => name !== calls[0]!.name)
  return { at: calls.map(({ step, turn }) => ({ lane: turn.lane, step: isMessage ? step : calls[0]!.step })) }
}

/** Of those who were there before the last; that one goes on in its turn, or comes right before the first who does. */
function waitsFor(calls: readonly Call[]): Wait[] {
  const [first] = calls
  const to = first!.isFirst ? first!.turn.began : first!.step
  return calls.flatMap(({ turn, isFirst }) => {
    const from = isFirst ? turn.before : undefined
    return from != null && from < to - 1 ? [{ lane: turn.lane, from, to }] : []
  })
}

/** The line that all goes along, up to `until`: one before the ranks, one for each, one after them. */
export function tracks({ ranks, first, last }: RankLanes, track: Track, until = track.right): string {
  const { total, left, right } = track
  const middle = yOfLane((ranks.length - 1) / 2)
  const [from, to] = [track.at(first), track.at(last)]
  const stretch = (x: number, end: number, y: number): string => (until > x ? `M${x} ${y}H${Math.min(end, until)}` : '')
  const fork = (x: number): string => (until > x ? `M${x} ${yOfLane(0)}V${yOfLane(ranks.length - 1)}` : '')
  const lanes = ranks.map((_, lane) => stretch(from, to, yOfLane(lane)))
  const before = first > 1 ? stretch(left - 12, from, middle) + fork(from) : lanes.map((_, lane) =>
    stretch(left - 12, from, yOfLane(lane))).join('')
  const after = last < total ? fork(to) + stretch(to, right, middle) : ''
  return before + lanes.join('') + after
}

/** The height of a step's lane. */
export function yOf({ of, ranks }: RankLanes, at: number): number {
  return yOfLane(of[at] ?? (ranks.length - 1) / 2)
}

function yOfLane(lane: number): number {
  return LANE / 2 + 4 + lane * LANE
}

export function heightOf({ ranks }: RankLanes): number {
  return ranks.length * LANE + 8
}

/** For a timeline too long for marks: at most one tick every other pixel on each side of a lane. */
export function laneTicks(
  { trace: { timeline } }: TraceIndex, { of }: RankLanes, track: Track, above: boolean,
): string {
  const seen = new Set<string>()
  timeline.forEach((event, at) => {
    if (isAbove(event) !== above || /^(pass|call)/.test(event.kind)) return
    const x = Math.round(track.at(at + 1) / 2) * 2
    seen.add(`M${x} ${yOfLane(of[at]!) + (above ? -8 : 3)}v5`)
  })
  return [...seen].join('')
}

/** At most one a pixel, as one path. */
export function meetingLines({ meetings }: RankLanes, track: Track): string {
  const seen = new Set<number>()
  return meetings.map(({ at }) => {
    const points = at.map(({ step, lane }) => `${track.at(step).toFixed(1)} ${yOfLane(lane)}`)
    const x = Math.round(track.at(at[0]!.step))
    if (seen.has(x)) return ''
    seen.add(x)
    return `M${points.join('L')}`
  }).join('')
}

/** Waits that are wide enough to be seen, as one path. */
export function waitLines({ waits }: RankLanes, track: Track): string {
  return waits.map(({ lane, from, to }) => {
    const [x, end] = [track.at(from), track.at(to)]
    return end - x < 2 ? '' : `M${x.toFixed(1)} ${yOfLane(lane)}H${end.toFixed(1)}`
  }).join('')
}
