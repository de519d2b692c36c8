// Icons of the player, on the graph's 16 px grid.

export const player = {
  run: 'M5 3.5 12 8 5 12.5Z',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  back: 'M10.5 3.8 5 8l5.5 4.2Z',
  forward: 'M5.5 3.8 11 8l-5.5 4.2Z',
} as const
