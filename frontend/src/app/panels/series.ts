// Lines of a chart and the marks that tell them apart.

export interface Series {
  label: string
  /** Which of the looks: dash and mark. */
  look: number
  /** In the order of `x`. `kept`: it can be looked at, so it gets a mark. */
  points: readonly { x: number; y: number | null; kept: boolean }[]
}

export const LOOKS = 7

const marks = [
  'M-2.6 0a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0-5.2 0Z', 'M-2.6-2.6h5.2v5.2h-5.2Z', 'M0-3.4 3.2 2.6h-6.4Z',
  'M0-3.4 3.4 0 0 3.4-3.4 0Z', 'M-3-.9h2.1V-3H.9v2.1H3V.9H.9V3H-.9V.9H-3Z', 'M0 3.4-3.2-2.6h6.4Z',
  'M-2.9-1.7-1.7-2.9 0-1.2 1.7-2.9 2.9-1.7 1.2 0 2.9 1.7 1.7 2.9 0 1.2-1.7 2.9-2.9 1.7-1.2 0Z',
]

export function markPath(look: number): string {
  return marks[look % LOOKS]!
}
