// Axes of charts: places for numbers, round ticks, and which scale fits.

interface Axis {
  log: boolean
  /** Share of the axis, 0 … 1; null for a number it cannot show. */
  at(value: number): number | null
  ticks: readonly number[]
}

/** An axis over finite numbers. Logarithmic when all are positive, but for a few zeros, and the largest is more than
 *  `ratio` times the smallest of them. */
export function axisOf(values: readonly number[], ratio = 300, count = 3): Axis {
  const finite = values.filter(Number.isFinite)
  let low = Infinity
  let high = -Infinity
  let least = Infinity
  let zeros = 0
  for (const value of finite) {
    low = Math.min(low, value)
    high = Math.max(high, value)
    if (value > 0) least = Math.min(least, value)
    if (value === 0) zeros += 1
  }
  if (finite.length === 0) [low, high] = [0, 1]
  if (low >= 0 && zeros <= finite.length / 10 && high / least > ratio) return logarithmic(least, high)
  return linear(low, high, count)
}

function linear(low: number, high: number, count: number): Axis {
  if (low === high) {
    const room = Math.abs(low) / 2 || 1
    ;[low, high] = [low - room, high + room]
  }
  const step = niceStep((high - low) / count)
  const [from, to] = [Math.floor(low / step) * step, Math.ceil(high / step) * step]
  const ticks = Array.from({ length: Math.round((to - from) / step) + 1 }, (_, at) => clean(from + at * step, step))
  return { log: false, ticks, at: (value) => (Number.isFinite(value) ? (value - from) / (to - from) : null) }
}

/** A linear axis from one number to another, exactly. */
export function axisFrom(from: number, to: number, count = 3): Axis {
  const step = niceStep((to - from) / count)
  const ticks: number[] = []
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push(clean(at, step))
  return { log: false, ticks, at: (value) => (Number.isFinite(value) ? (value - from) / (to - from) : null) }
}

function logarithmic(low: number, high: number): Axis {
  const [from, to] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))]
  const every = Math.max(1, Math.ceil((to - from) / 4))
  const ticks: number[] = []
  for (let power = from; power <= to; power += every) ticks.push(10 ** power)
  return {
    log: true, ticks,
    at: (value) => (value > 0 && Number.isFinite(value) ? (Math.log10(value) - from) / (to - from) : null),
  }
}

/** 1, 2 or 5 times a power of ten. */
export function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough))
  const share = rough / power
  return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10)
}

/** Steps for bytes: powers of 1024 times 1, 2, 4 … */
export function byteTicks(most: number, count = 3): number[] {
  if (most <= 0) return [0]
  const step = 2 ** Math.ceil(Math.log2(most / count))
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, at) => at * step)
}

function clean(value: number, step: number): number {
  const digits = Math.max(0, 2 - Math.floor(Math.log10(step)))
  return Number(value.toFixed(Math.min(20, digits)))
}

/** A line through points; it breaks where there is none. */
export function linePath(points: readonly (readonly [number, number] | null)[]): string {
  let path = ''
  let pen = 'M'
  for (const point of points) {
    if (point) {
      path += `${pen}${Math.round(point[0] * 10) / 10} ${Math.round(point[1] * 10) / 10}`
      pen = 'L'
    } else pen = 'M'
  }
  return path
}
