// Icons of the page's own controls, on the graph's 16 px grid; the rest come from core/paint/icons.

import { ICONS } from '../../core/paint/icons'
import { player } from './player-icons'

export const icons = {
  ...ICONS,
  ...player,
  fix: 'M2.8 8.6l3.4 3.6 7-8.2',
  search: 'M11 6.8a4.2 4.2 0 1 0-8.4 0a4.2 4.2 0 1 0 8.4 0M9.9 9.9l3.7 3.7',
  pin: 'M5.8 2.5h4.4v4.2l1.6 2.6H4.2l1.6-2.6zM8 9.3v4.6',
  copy: 'M5 5h8.5v8.5H5zM2.5 11V2.5H11',
  share: 'M2.6 8.8v4.6h10.8V8.8M8 10V2.4M5 5.2l3-2.8 3 2.8',
  moon: 'M13.2 9.8A5.6 5.6 0 0 1 6.2 2.8a5.6 5.6 0 1 0 7 7z',
  help: 'M14 8a6 6 0 1 0-12 0a6 6 0 1 0 12 0M6.2 6.4a1.8 1.8 0 1 1 2.6 1.7c-.6.3-.8.6-.8 1.2M8 11.2v.2',
  closed: 'M6 4l4 4-4 4',
  stop: 'M4.5 4.5h7v7h-7Z',
  sun: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1.5v1.6M8 12.9v1.6M1.5 8h1.6M12.9 8h1.6M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M12.6 3.4l-1.1 1.1M4.5 11.5l-1.1 1.1',
  first: 'M4 3.5v9M12 3.8 6.5 8l5.5 4.2Z',
  last: 'M12 3.5v9M4 3.8 9.5 8 4 12.2Z',
  present: 'M2 3h12v8H2zM8 11v2.5M5 13.5h6',
  over: 'M2.5 9.5a5 5 0 0 1 9.6-1.4M12.6 4.6l-.3 3.8-3.6-1M5.2 12.5h4',
  out: 'M3 3v6.5h9M9 6.5l3.2 3-3.2 3',
  close: 'M4 4l8 8M12 4l-8 8',
  options: 'M2.5 5h6M11.5 5h2M10 3.4v3.2M2.5 11h2M7.5 11h6M6 9.4v3.2',
} as const

export type IconName = keyof typeof icons
