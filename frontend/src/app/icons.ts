// Icons of the page's own controls, on the graph's 16 px grid; the rest come from core/icons.

import { ICONS } from '../core/icons'

export const icons = {
  ...ICONS,
  run: 'M5 3.5 12 8 5 12.5Z',
  stop: 'M4.5 4.5h7v7h-7Z',
  sun: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1.5v1.6M8 12.9v1.6M1.5 8h1.6M12.9 8h1.6M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M12.6 3.4l-1.1 1.1M4.5 11.5l-1.1 1.1',
  first: 'M4 3.5v9M12 3.8 6.5 8l5.5 4.2Z',
  back: 'M10.5 3.8 5 8l5.5 4.2Z',
  forward: 'M5.5 3.8 11 8l-5.5 4.2Z',
  last: 'M12 3.5v9M4 3.8 9.5 8 4 12.2Z',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  close: 'M4 4l8 8M12 4l-8 8',
  options: 'M2.5 5h6M11.5 5h2M10 3.4v3.2M2.5 11h2M7.5 11h6M6 9.4v3.2',
} as const

export type IconName = keyof typeof icons
