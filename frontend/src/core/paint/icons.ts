// Icons as paths on a 16 px grid, drawn with a 1.4 px stroke and round caps.

export const ICONS = {
  leaf: 'M2.6 13.4C2 7.2 5.4 3 13.4 2.6C13.6 10.2 9.8 14 3.6 12.4M2.6 13.4C4.4 9.8 6.4 7.8 9.4 6.4',
  param: 'M2.5 3.5h11v9h-11zM2.5 6.7h11M6.4 6.7v5.8',
  add: 'M8 2.5v11M2.5 8h11',
  mul: 'M3.6 3.6l8.8 8.8M12.4 3.6l-8.8 8.8',
  div: 'M2.5 8h11M8 3.6v.2M8 12.2v.2',
  pow: 'M2.6 5.4l6 8.1M8.6 5.4l-6 8.1M10 2.6h3.6v4.2',
  mean: 'M2.5 13h11M3.2 9.6l3.4-4.2 2.8 2.4 3.8-5',
  sum: 'M12.4 4.6V2.6H3.8L8.6 8l-4.8 5.4h8.6v-2',
  mat: 'M2.6 2.6h3.2v10.8H2.6M6.8 2.6v10.8M13.4 2.6h-3.2v10.8h3.2M9.2 2.6v10.8',
  norm: 'M1.8 12.8c3.2 0 3.4-9.4 6.2-9.4s3 9.4 6.2 9.4',
  act: 'M1.8 11.8h4.6l4.4-7.6h3.6',
  emb: 'M2.5 3h11M2.5 6.4h11M2.5 9.7h7.2M2.5 13h5.4',
  attn: 'M4.6 4.4h6.8M4.1 5.5l3 6.4M11.9 5.5l-3 6.4M4.6 4.2a1.4 1.4 0 1 0-2.8 0a1.4 1.4 0 1 0 2.8 0M14.2 4.2a1.4 1.4 0 1 0-2.8 0a1.4 1.4 0 1 0 2.8 0M9.4 13a1.4 1.4 0 1 0-2.8 0a1.4 1.4 0 1 0 2.8 0',
  group: 'M5.6 5.6h4.8v4.8H5.6zM2.5 5V2.5H5M11 2.5h2.5V5M13.5 11v2.5H11M5 13.5H2.5V11',
  loss: 'M12 8a4 4 0 1 0-8 0a4 4 0 1 0 8 0M8 1.8v12.4M1.8 8h12.4',
  acc: 'M13.6 8a5.6 5.6 0 1 0-11.2 0a5.6 5.6 0 1 0 11.2 0M8 5.2v5.6M5.2 8h5.6',
  view: 'M2.5 4.5h6v6h-6zM7.5 8h6v5.5h-6z',
  op: 'M8 2.6L13.4 8L8 13.4L2.6 8z',
  collective: 'M2.5 5h11M10.8 2.4L13.5 5l-2.7 2.6M13.5 11h-11M5.2 8.4L2.5 11l2.7 2.6',
  cut: 'M6 4.6a2 2 0 1 0-4 0a2 2 0 1 0 4 0M6 11.4a2 2 0 1 0-4 0a2 2 0 1 0 4 0M5.6 5.8l8.2 5.8M5.6 10.2l8.2-5.8',
  ghost: 'M3.4 13.4V7.2a4.6 4.6 0 0 1 9.2 0v6.2l-2.3-1.6L8 13.4l-2.3-1.6z',
  warn: 'M8 2.4l6.2 11H1.8zM8 6.6v3.2M8 11.6v.2',
  err: 'M5.5 2h5L14 5.5v5L10.5 14h-5L2 10.5v-5zM8 5v3.6M8 10.8v.2',
  hook: 'M9.8 2.6v7.2a3 3 0 0 1-6 0V9',
  fit: 'M2.5 5.5v-3h3M10.5 2.5h3v3M13.5 10.5v3h-3M5.5 13.5h-3v-3',
  shared:
    'M6.4 8.4a1.9 1.9 0 1 0-3.8 0a1.9 1.9 0 1 0 3.8 0M12.8 3.8a1.9 1.9 0 1 0-3.8 0a1.9 1.9 0 1 0 3.8 0M12.8 12.6a1.9 1.9 0 1 0-3.8 0a1.9 1.9 0 1 0 3.8 0',
  open: 'M4 6l4 4 4-4',
  minus: 'M3 8h10',
} as const

export type IconName = keyof typeof ICONS

/** The icon of a box family; a plain diamond for a family without one. */
export function icon(family: string): IconName {
  return family in ICONS ? (family as IconName) : 'op'
}
