// Places are whole or half pixels.

export function round(value: number): number {
  return Math.round(value * 2) / 2
}
