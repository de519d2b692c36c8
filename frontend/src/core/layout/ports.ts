// Where wires meet the side of a box: in the order of where they come from, never on top of each other.

export interface PortWish {
  /** The caller's own number for the wire. */
  at: number
  /** x of the next point of the wire. */
  towards: number
  /** Wires with the same pair join the same two boxes. */
  pair: number
}

const APART = 36
const PARALLEL = 76
const CORNER = 14
/** A lone wire rather leaves a little off the centre than with a kink. */
const STRAIGHTEN = 30

/** One x per wish, in the order of the wishes. Parallel wires stand at ±76 from the centre, or width / 3; those of a
 *  box across lanes right over or under what they lead to. */
export function portsAlong(
  wishes: readonly PortWish[], centre: number, width: number, across = false,
): number[] {
  const [first] = wishes
  if (wishes.length === 1 && !across)
    return [Math.abs(first!.towards - centre) <= STRAIGHTEN ? first!.towards : centre]
  const limit = Math.min(PARALLEL, width / 3)
  const order = wishes
    .map((_, at) => at)
    .sort((a, b) => wishes[a]!.towards - wishes[b]!.towards || wishes[a]!.pair - wishes[b]!.pair || a - b)
  const reach = across ? width / 2 - CORNER : limit
  const wanted = order.map((at) => Math.max(centre - reach, Math.min(centre + reach, wishes[at]!.towards)))
  const roomy = order.map((at, place) => {
    if (place === 0) return 0
    const parallel = wishes[at]!.pair === wishes[order[place - 1]!]!.pair
    return parallel ? (2 * limit) / (samePair(wishes, wishes[at]!.pair) - 1) : APART
  })
  const tight = Math.min(1, (width - 2 * CORNER) / roomy.reduce((sum, gap) => sum + gap, 0))
  const gaps = roomy.map((gap) => gap * tight)
  const placed = within(separate(wanted, gaps), gaps, centre - width / 2 + CORNER, centre + width / 2 - CORNER)
  const result = new Array<number>(wishes.length)
  order.forEach((at, place) => (result[at] = placed[place]!))
  return result
}

/** Pushes places back between two bounds, keeping their distances. */
function within(places: number[], gaps: readonly number[], low: number, high: number): number[] {
  const last = places.length - 1
  for (let at = last; at >= 0; at--)
    places[at] = Math.min(places[at]!, at === last ? high : places[at + 1]! - gaps[at + 1]!)
  for (let at = 0; at <= last; at++) places[at] = Math.max(places[at]!, at === 0 ? low : places[at - 1]! + gaps[at]!)
  return places
}

function samePair(wishes: readonly PortWish[], pair: number): number {
  return wishes.filter((wish) => wish.pair === pair).length
}

/** Moves wanted places apart by the gaps, as little as possible on the whole. */
function separate(wanted: readonly number[], gaps: readonly number[]): number[] {
  const offsets = gaps.map(((sum) => (gap: number) => (sum += gap))(0))
  const blocks: { sum: number; count: number; start: number }[] = []
  wanted.forEach((want, at) => {
    let block = { sum: want - offsets[at]!, count: 1, start: at }
    for (
      let last = blocks[blocks.length - 1];
      last && last.sum / last.count > block.sum / block.count;
      last = blocks[blocks.length - 1]
    ) {
      block = { sum: last.sum + block.sum, count: last.count + block.count, start: last.start }
      blocks.pop()
    }
    blocks.push(block)
  })
  const placed: number[] = []
  blocks.forEach((block, at) => {
    const end = blocks[at + 1]?.start ?? wanted.length
    for (let place = block.start; place < end; place++) placed.push(block.sum / block.count + offsets[place]!)
  })
  return placed
}
