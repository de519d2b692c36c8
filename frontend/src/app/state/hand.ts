// A hand that turns a number: where it is, and what it comes to if it goes on as it goes.

/** A program, and how far the hand is then from where it began, in tenths of a step. */
interface Turned {
  code: string
  at: number
}

/** Tenths of a step. */
export const STEP = 10
/** The way by which its pace is told. */
const PACE_MS = 100
/** Nobody can tell what it does later. */
const FARTHEST_MS = 250
const MOST_AHEAD = 4
/** It rests where by its pace it would have been so many values further, and a busy page would have heard of it. */
const RESTS = 2
const RESTS_MS = 50

export class Hand {
  at = 0
  private unit = 1
  private moves: readonly { ms: number; at: number }[] = []

  /** What follows once it has let go. */
  released: () => void = () => undefined

  /** `isDown`: it holds the number until it lets go. */
  constructor(
    private readonly codeAt: (at: number) => string,
    public isDown = false,
  ) {}

  /** It has come to a place, in units of so many tenths. */
  move(at: number, unit: number, ms: number): void {
    const last = this.moves.at(-1)
    const recent = this.moves.filter((move) => move === last || ms - move.ms < PACE_MS)
    this.moves = [...recent, { ms, at }]
    this.at = at
    this.unit = unit
  }

  letGo(): void {
    this.moves = []
    this.isDown = false
    this.released()
  }

  /** The values it comes to in so many milliseconds, the last one first: at least the next one; none while it rests. */
  ahead(ms: number): Turned[] {
    const [first, last] = [this.moves[0], this.moves.at(-1)]
    if (!first || !last || first.at === last.at) return []
    const pace = Math.abs(last.at - first.at) / this.unit / Math.max(1, last.ms - first.ms)
    const rested = performance.now() - last.ms
    if (rested > Math.max(RESTS_MS, RESTS / pace)) return []
    const most = Math.max(1, Math.round((rested + Math.min(ms, FARTHEST_MS)) * pace))
    return Array.from({ length: Math.min(most, MOST_AHEAD) }, (_, nearer) => {
      const at = this.at + Math.sign(last.at - first.at) * (most - nearer) * this.unit
      return { at, code: this.codeAt(at) }
    })
  }
}
