// What a layout is made from and what it says: sizes in, places out.

export interface Size {
  w: number
  h: number
}

export interface Rect {
  x: number
  y: number
  w: number
  h: number
}

/** Where something stands in the window. */
export interface Sides {
  left: number
  top: number
  bottom: number
}

/** A box, or a group as it looks folded. `side` is room kept on both sides, `tail` room below. */
export interface LayoutItem extends Size {
  id: string
  parent: string
  side: number
  tail: number
  /** Where its constants stand, from its corner. */
  stubs?: Rect
  /** Stretches over what it is joined to. */
  across?: boolean
}

export interface LayoutGroup extends LayoutItem {
  /** Width of the open group's header. */
  header: number
  /** Of the title in it alone. */
  title: number
}

export interface LayoutLink {
  id: string
  source: string
  target: string
  /** Links with the same value share a port: one tensor of one kind. */
  value: string
  /** One wire is drawn for all links of this value. */
  bundled?: boolean
  /** Label sizes from most to least telling; empty for none. */
  forward: readonly Size[]
  gradient: readonly Size[]
  /** A capsule or scissors sits in the middle of it; `text` are widths of the words beside it, from most to least
   *  telling. */
  badge: (Size & { text: readonly number[] }) | null
}

export interface LayoutInput {
  /** What stands there as a box, folded groups too, in forward order. */
  boxes: readonly LayoutItem[]
  /** Groups that are not hidden in others, open or folded. */
  groups: readonly LayoutGroup[]
  links: readonly LayoutLink[]
  expanded: readonly string[]
  /** Between ranks joined by wires with one-line labels. */
  gap: number
  /** What the widest thing at the right of a box takes: step numbers. */
  beside: number
}

export interface LabelPlace extends Rect {
  /** Which of the label's forms fits; −1 is a dot that opens on hover. */
  variant: number
}

/** Whether a label found room for some of its words. */
export function isSaid(place: LabelPlace | null): place is LabelPlace {
  return place !== null && place.variant >= 0
}

export interface Placed extends Size {
  id: string
  x: number
  y: number
}

export interface Frame extends Placed {
  /** Where the header's text begins, clear of the lanes that enter through the top. */
  title_x: number
  title_w: number
}

export type Knot = readonly [x: number, y: number]

/** One drawn edge: a stretch of one or more links between two things of the same level. */
export interface Wire {
  id: string
  links: readonly string[]
  source: string
  target: string
  /** Downward through these points, vertical at each; a wire that has to go up says so. */
  knots: readonly Knot[]
  upward: boolean
  /** Says shape and gradient; the other stretches of the same link do not repeat them. */
  labelled: boolean
  /** Ends on a box (arrow) rather than on a group's border. */
  starts_at_box: boolean
  ends_at_box: boolean
  forward: LabelPlace | null
  gradient: LabelPlace | null
  badge: Badge | null
}

/** `bar` is half the length of a cut's bar; its words stand right (1) or left (−1) of it, `lift` below its height. */
export interface Badge extends Size {
  x: number
  y: number
  text: number
  bar: number
  side: 1 | -1
  lift: number
}

export interface Layout {
  boxes: readonly Placed[]
  frames: readonly Frame[]
  wires: readonly Wire[]
  /** Points where lanes branch. */
  dots: readonly Knot[]
  /** The groups that are open. */
  open: readonly string[]
  x: number
  y: number
  width: number
  height: number
}
