// The program's editor: CodeMirror with the marks of the step on its lines. A chunk of its own, loaded after the page.

import {
  defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory, redo, undo,
} from '@codemirror/commands'
import { pythonLanguage } from '@codemirror/lang-python'
import {
  HighlightStyle, LanguageSupport, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting,
} from '@codemirror/language'
import {
  Compartment, countColumn, EditorSelection, EditorState, Prec, RangeSet, StateEffect, StateField, Transaction,
  type Extension, type Range, type Text,
} from '@codemirror/state'
import {
  Decoration, EditorView, GutterMarker, WidgetType, drawSelection, gutter, gutters, keymap,
  lineNumberMarkers, lineNumbers, runScopeHandlers, type BlockInfo, type DecorationSet,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { Span } from '../../api/types'
import { isRetuned, literalAt, literals, playedAt, type Literal, type Played } from '../../core/trace/literals'
import { dragNumber, turnByKey, type Turn } from '../elements/turning'
import { signOf, type LineBlock, type Marks, type Sign } from '../../core/trace/line-marks'

interface EditorEvents {
  /** What was typed, and whether it changed one number and nothing else. */
  change(code: string, isRetuned: boolean): void
  turn: Turn
  /** Numbers with a range. */
  played(): readonly Played[]
  hover(line: number | null): void
  click(line: number): void
  /** The number of a line was clicked. */
  number(line: number): void
  /** The sign beside a line was clicked. */
  sign(line: number): void
  run(): void
  block(index: number): void
  /** Applies the fix of a finding. */
  fix(index: number): void
}

export interface EditorHandle {
  /** What belongs to one stroke (0: nothing) is undone in one step. */
  setCode(code: string, stroke: number): void
  /** With the line to bring into view, if any. */
  setMarks(marks: Marks | null, line?: number | null): void
  /** Marks the numbers of lines at which playing halts. */
  setHalts(lines: ReadonlySet<number>): void
  /** What it is called, and whether Tab comes to it. */
  setLabel(label: string, isStop?: boolean): void
  showLine(line: number): void
  focus(): void
  destroy(): void
}

const showMarks = StateEffect.define<Marks | null>()

/** Offset of a place counted in code points, as Python counts columns. */
function offset(doc: Text, line: number, column: number): number {
  if (line < 1 || line > doc.lines) return doc.length
  const { from, to, text } = doc.line(line)
  let units = 0
  let points = 0
  for (const letter of text) {
    if (points >= column) break
    units += letter.length
    points += 1
  }
  return Math.min(from + units, to)
}

class Note extends WidgetType {
  constructor(readonly note: string) {
    super()
  }
  override eq(other: Note): boolean {
    return other.note === this.note
  }
  toDOM(): HTMLElement {
    const element = document.createElement('span')
    element.className = 'cm-note'
    element.textContent = this.note
    return element
  }
  override ignoreEvent(): boolean {
    return false
  }
}

type BlockEvents = Pick<EditorEvents, 'block' | 'fix'>

function blockButton(text: string, look: string, press: () => void): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = look
  button.textContent = text
  button.addEventListener('click', press)
  return button
}

class Block extends WidgetType {
  constructor(
    readonly block: LineBlock,
    readonly events: BlockEvents,
  ) {
    super()
  }
  override eq(other: Block): boolean {
    return (
      other.block.title === this.block.title &&
      other.block.action === this.block.action &&
      other.block.fix === this.block.fix &&
      other.block.index === this.block.index &&
      other.block.isOver === this.block.isOver
    )
  }
  toDOM(): HTMLElement {
    // The room around it is padding: the editor measures a block without its margins.
    const outer = document.createElement('div')
    outer.className = `cm-finding-room ${this.block.isOver ? 'cm-over' : ''}`
    const element = outer.appendChild(document.createElement('div'))
    element.className = 'cm-finding'
    const title = element.appendChild(document.createElement('strong'))
    title.textContent = this.block.title
    const { fix, action, index } = this.block
    if (fix) element.append(blockButton(fix, 'button solid', () => this.events.fix(index)))
    if (action) element.append(blockButton(action, 'button', () => this.events.block(index)))
    return outer
  }
}

const svg = 'http://www.w3.org/2000/svg'
const signPath: Record<Sign, string> = {
  gradient: 'M6 1.5 11 10.5H1Z',
  running: 'M2 1 11 6 2 11Z',
  next: 'M2.5 2 10 6 2.5 10Z',
  idle: 'M2.5 6h1.6M7.9 6h1.6',
  done: 'M6 4.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6Z',
  failed: 'M3 3l6 6M9 3 3 9',
  found: 'M6 1.6 11.2 10.6H.8ZM6 5v2.4M6 9v.1',
}

const HALT = new (class extends GutterMarker {
  override elementClass = 'cm-halt'
})()

class SignMarker extends GutterMarker {
  constructor(
    readonly sign: Sign,
    readonly label: string,
  ) {
    super()
  }
  override eq(other: GutterMarker): boolean {
    return other instanceof SignMarker && other.sign === this.sign && other.label === this.label
  }
  override toDOM(): Node {
    const element = document.createElementNS(svg, 'svg')
    element.setAttribute('viewBox', '0 0 12 12')
    element.setAttribute('class', `cm-sign cm-sign-${this.sign}`)
    element.setAttribute('role', 'img')
    element.setAttribute('aria-label', this.label)
    const title = element.appendChild(document.createElementNS(svg, 'title'))
    title.textContent = this.label
    const path = element.appendChild(document.createElementNS(svg, 'path'))
    path.setAttribute('d', signPath[this.sign])
    return element
  }
}

interface Shown {
  marks: Marks | null
  decorations: DecorationSet
  signs: RangeSet<GutterMarker>
}

const nothing: Shown = { marks: null, decorations: Decoration.none, signs: RangeSet.empty }

function spanRange(doc: Text, span: Span): { from: number; to: number } | null {
  const from = offset(doc, span.line, span.column)
  const to = offset(doc, span.end_line, span.end_column)
  return from < to ? { from, to } : null
}

function draw(doc: Text, marks: Marks, events: BlockEvents): Shown {
  const decorations: Range<Decoration>[] = []
  const signs: Range<GutterMarker>[] = []
  for (let number = 1; number <= doc.lines; number += 1) {
    const line = doc.line(number)
    const sign = signOf(marks, number)
    if (sign) signs.push(new SignMarker(sign, marks.words[sign]).range(line.from))
    const classes = [
      sign && sign !== 'done' && sign !== 'idle' ? `cm-line-${sign}` : '',
      marks.running === number ? 'cm-line-running' : '', marks.idle.has(number) ? 'cm-line-idle' : '',
      marks.unrecorded.has(number) ? 'cm-line-unrecorded' : '', marks.lit.has(number) ? 'cm-line-lit' : '',
    ].filter(Boolean)
    const word = marks.idle.has(number) ? marks.words.idle : marks.unrecorded.has(number) ? marks.words.unrecorded : ''
    const title = word ? { attributes: { title: word } } : {}
    if (classes.length) decorations.push(Decoration.line({ class: classes.join(' '), ...title }).range(line.from))
    const note = marks.notes.get(number)
    if (note) {
      decorations.push(Decoration.line({ class: 'cm-noted' }).range(line.from))
      decorations.push(Decoration.widget({ widget: new Note(note), side: 1 }).range(line.to))
    }
  }
  for (const { span, kind } of marks.spans) {
    const range = spanRange(doc, span)
    if (range) decorations.push(Decoration.mark({ class: `cm-span-${kind}` }).range(range.from, range.to))
  }
  for (const block of marks.blocks) {
    if (block.line > doc.lines || block.line < 1) continue
    decorations.push(
      Decoration.widget({ widget: new Block(block, events), side: 2, block: true }).range(doc.line(block.line).to),
    )
  }
  return { marks, decorations: Decoration.set(decorations, true), signs: RangeSet.of(signs, true) }
}

function marksField(events: BlockEvents): StateField<Shown> {
  return StateField.define<Shown>({
    create: () => nothing,
    update(shown, transaction) {
      let next = shown
      if (transaction.docChanged)
        next = {
          ...next,
          decorations: next.decorations.map(transaction.changes),
          signs: next.signs.map(transaction.changes),
        }
      for (const effect of transaction.effects) {
        if (effect.is(showMarks))
          next = effect.value ? draw(transaction.state.doc, effect.value, events) : nothing
      }
      return next
    },
    provide: (field) => EditorView.decorations.from(field, (shown) => shown.decorations),
  })
}

/** Numbers are handles: they say so under the pointer. */
const numbersField = StateField.define<{ found: readonly Literal[]; marks: DecorationSet }>({
  create: ({ doc }) => numbersIn(doc),
  update: (numbers, { docChanged, newDoc }) => (docChanged ? numbersIn(newDoc) : numbers),
  provide: (field) => EditorView.decorations.from(field, ({ marks }) => marks),
})

const NUMBER = Decoration.mark({ class: 'cm-number' })

function numbersIn(doc: Text): { found: readonly Literal[]; marks: DecorationSet } {
  const found = literals(doc.toString())
  return { found, marks: Decoration.set(found.map(({ from, to }) => NUMBER.range(from, to))) }
}

/** Rows that a line goes on in begin where it does and a little further, for indentation has a meaning in Python. */
const hanging = StateField.define<DecorationSet>({
  create: ({ doc, tabSize }) => hangingIn(doc, tabSize),
  update: (marks, { docChanged, newDoc, state }) => (docChanged ? hangingIn(newDoc, state.tabSize) : marks),
  provide: (field) => EditorView.decorations.from(field),
})

const HANG = 2
const MOST_HANG = 16
/** Without a break behind the indentation, which would leave an empty row. */
const INDENT = Decoration.mark({ class: 'cm-indent' })

export function hangingIn(doc: Text, tabSize: number): DecorationSet {
  const marks: Range<Decoration>[] = []
  for (let number = 1; number <= doc.lines; number += 1) {
    const { from, text } = doc.line(number)
    const indent = text.search(/\S/)
    if (indent < 0) continue
    const by = Math.min(MOST_HANG, countColumn(text, tabSize, indent)) + HANG
    const style = `padding-left:calc(${by}ch + 2px);text-indent:-${by}ch`
    marks.push(Decoration.line({ attributes: { style } }).range(from))
    if (indent > 0) marks.push(INDENT.range(from, from + indent + 1))
  }
  return Decoration.set(marks)
}

/** The number that is held: selected as a whole. */
function heldIn(state: EditorState): Literal | undefined {
  const { from, to } = state.selection.main
  return state.field(numbersField).found.find((literal) => literal.from === from && literal.to === to)
}

function hold(view: EditorView, literal: Literal): void {
  view.dispatch({ selection: { anchor: literal.from, head: literal.to }, scrollIntoView: true })
}

/** Takes the next number behind the cursor, or the one before it; behind the last one comes the first. */
function holdNext(view: EditorView, back: boolean): boolean {
  const { found } = view.state.field(numbersField)
  const { from, to, empty } = view.state.selection.main
  const next = back
    ? (found.findLast((literal) => literal.to < to && literal.from < from) ?? found.at(-1))
    : (found.find((literal) => (empty ? literal.to >= from : literal.from >= to)) ?? found[0])
  if (next) hold(view, next)
  return next !== undefined
}

/** Numbers turn under the pointer, and by the arrow keys once they are held. */
function handles({ turn, played }: Pick<EditorEvents, 'turn' | 'played'>): Extension {
  function ranged(state: EditorState, literal: Literal): Literal {
    const { found } = state.field(numbersField)
    return playedAt(found, found.indexOf(literal), played()) ?? literal
  }

  return [
    numbersField,
    EditorView.domEventHandlers({
      pointerdown: (event, view) => {
        const number = (event.target as Element).closest('.cm-number')
        if (!number || event.button !== 0 || event.ctrlKey || event.metaKey) return false
        const { found } = view.state.field(numbersField)
        const literal = literalAt(found, view.posAtDOM(number))
        if (!literal || literal === heldIn(view.state)) return false
        dragNumber(event, view.state.doc.toString(), ranged(view.state, literal), turn, () => {
          view.focus()
          hold(view, literal)
        })
        return true
      },
      mousedown: (event, view) => {
        // The press belongs to the number; where it is held already, a press puts the cursor into it.
        const number = (event.target as Element).closest('.cm-number')
        const literal = number && literalAt(view.state.field(numbersField).found, view.posAtDOM(number))
        return !!literal && literal !== heldIn(view.state) && event.button === 0 && !event.ctrlKey && !event.metaKey
      },
      keydown: (event, view) => {
        const literal = heldIn(view.state)
        const turns = !!literal && !event.ctrlKey && !event.metaKey
        return turns && turnByKey(event, view.state.doc.toString(), ranged(view.state, literal), turn)
      },
    }),
    keymap.of([
      { key: 'F2', run: (view) => holdNext(view, false) },
      { key: 'Shift-F2', run: (view) => holdNext(view, true) },
    ]),
  ]
}

const ink = HighlightStyle.define([
  {
    tag: [tags.keyword, tags.controlKeyword, tags.definitionKeyword, tags.moduleKeyword, tags.operatorKeyword],
    fontWeight: '700',
  },
  { tag: [tags.comment], color: 'var(--comment, var(--ink3))' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--ink2)' },
])

const look = EditorView.theme({
  '&': { height: '100%', fontSize: 'var(--code, 12.5px)', backgroundColor: 'var(--panel)', color: 'var(--ink)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: 'var(--code-line, 22px)', overflow: 'auto' },
  '.cm-content': { padding: '6px 0', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 12px 0 2px', position: 'relative' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--ink3)', border: 'none', fontSize: '11px' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '26px', padding: '0 4px 0 6px' },
  '.cm-signs .cm-gutterElement': { width: '17px', display: 'flex', justifyContent: 'center' },
  '.cm-sign': { marginTop: 'calc((var(--code-line, 22px) - 11px) / 2)', flex: 'none' },
  '.cm-indent': { whiteSpace: 'pre' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--line) !important' },
  '.cm-number': { cursor: 'ew-resize', touchAction: 'pan-y', borderRadius: '2px' },
  '.cm-number:hover': { boxShadow: 'inset 0 -1.5px var(--ink3)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    backgroundColor: 'transparent', outline: '1px solid var(--line2)',
  },
})

/** The one stretch two texts differ in, so that the cursor and the undo history survive a change from outside. */
interface ChangedStretch {
  from: number
  to: number
  insert: string
}

function difference(before: string, after: string): ChangedStretch | null {
  if (before === after) return null
  const most = Math.min(before.length, after.length)
  let from = 0
  while (from < most && before[from] === after[from]) from += 1
  let tail = 0
  while (tail < most - from && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1
  return { from, to: before.length - tail, insert: after.slice(from, after.length - tail) }
}

/** What a gutter does with a click on a line. */
function clicked(act: (line: number) => void): (view: EditorView, block: BlockInfo) => boolean {
  return (view, block) => (act(view.state.doc.lineAt(block.from).number), true)
}

/** The history joins what is composed to the event before, however long ago that was. */
const JOINED = 'input.type.compose'

/** Keys that undo wherever the focus is: a number may have been turned by a slider. */
const PAGE = 'page'
const pageKeymap = historyKeymap
  .filter(({ run }) => run === undo || run === redo)
  .map((binding) => ({ ...binding, scope: PAGE }))

/** Whether text is typed there, which is undone where it is; of handles only what was turned is. */
function isTyped(target: EventTarget | null): boolean {
  const typed = 'textarea, [contenteditable], input:not([type="range"], [role="spinbutton"])'
  return target instanceof Element && target.closest(typed) !== null
}

/** A number stays held while it is turned. */
function selectedAfter(state: EditorState, { from, to, insert }: ChangedStretch): EditorSelection | undefined {
  const held = heldIn(state)
  if (!held || from < held.from || to > held.to) return undefined
  return EditorSelection.single(held.from, held.to + insert.length - (to - from))
}

/** Opens the editor inside `parent`. Marks are dropped by the caller when the program no longer is the one that ran. */
export function openEditor(parent: HTMLElement, code: string, label: string, events: EditorEvents): EditorHandle {
  const field = marksField(events)
  const labels = new Compartment()
  const halts = new Compartment()
  let quiet = false
  let stroke = 0
  const labelled = (label: string, isStop = true): Extension =>
    EditorView.contentAttributes.of({
      tabindex: isStop ? '0' : '-1', 'aria-label': label, spellcheck: 'false', autocapitalize: 'off',
    })
  const lineAt = (view: EditorView, event: MouseEvent): number | null => {
    const position = view.posAtCoords({ x: event.clientX, y: event.clientY }, false)
    const block = view.lineBlockAt(position)
    const y = event.clientY - view.documentTop
    return y >= block.top && y <= block.bottom ? view.state.doc.lineAt(block.from).number : null
  }
  /** Applies the fix on the cursor's line, or else the first one there is. */
  const fixNearest = (of: EditorView): boolean => {
    const fixes = (of.state.field(field).marks?.blocks ?? []).filter((block) => block.fix)
    const line = of.state.doc.lineAt(of.state.selection.main.head).number
    const chosen = fixes.find((block) => block.line === line) ?? fixes[0]
    if (chosen) events.fix(chosen.index)
    return chosen !== undefined
  }
  let hovered: number | null = null
  const hover = (line: number | null): void => {
    if (line !== hovered) events.hover((hovered = line))
  }
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: code,
      extensions: [
        history(),
        drawSelection(),
        EditorState.tabSize.of(4),
        indentUnit.of('    '),
        indentOnInput(),
        bracketMatching(),
        new LanguageSupport(pythonLanguage),
        syntaxHighlighting(ink),
        EditorView.lineWrapping,
        gutters({ fixed: true }),
        lineNumbers({ domEventHandlers: { mousedown: clicked((line) => events.number(line)) } }),
        halts.of([]),
        gutter({
          class: 'cm-signs', domEventHandlers: { mousedown: clicked((line) => events.sign(line)) },
          markers: (of) => of.state.field(field).signs,
          initialSpacer: () => new SignMarker('done', ''),
        }),
        handles(events),
        Prec.lowest(hanging),
        field,
        look,
        labels.of(labelled(label)),
        keymap.of([
          { key: 'Mod-Enter', run: () => (events.run(), true) },
          { key: 'Mod-.', run: (of) => fixNearest(of) },
          ...defaultKeymap,
          ...historyKeymap,
          ...pageKeymap,
          indentWithTab,
        ]),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged || quiet) return
          const code = update.state.doc.toString()
          events.change(code, isRetuned(update.startState.doc.toString(), code))
        }),
        EditorView.domEventHandlers({
          mousemove: (event, of) => hover(lineAt(of, event)),
          mouseleave: () => hover(null),
          click: (event, of) => {
            const line = lineAt(of, event)
            if (line !== null) events.click(line)
          },
        }),
      ],
    }),
  })
  const pageKey = (event: KeyboardEvent): void => {
    if (!event.defaultPrevented && !isTyped(event.target) && runScopeHandlers(view, event, PAGE)) event.preventDefault()
  }
  window.addEventListener('keydown', pageKey)
  /** Brings a line into view, and another one with it where there is room for both. */
  const sight = (line: number | null, other = line): StateEffect<unknown>[] => {
    const { doc } = view.state
    const [head, anchor] = [line, other].map((one) => (one && one <= doc.lines ? doc.line(one).from : null))
    if (head == null) return []
    const range = EditorSelection.range(anchor ?? head, head)
    return [EditorView.scrollIntoView(range, { y: 'nearest', yMargin: range.empty ? 40 : 8 })]
  }
  return {
    setCode(next, of) {
      const change = difference(view.state.doc.toString(), next)
      const isOn = of !== 0 && of === stroke
      stroke = of
      if (!change) return
      quiet = true
      view.dispatch({
        changes: change, selection: selectedAfter(view.state, change),
        annotations: isOn
          ? Transaction.userEvent.of(JOINED)
          : [Transaction.userEvent.of('input.type'), isolateHistory.of(of ? 'before' : 'full')],
      })
      quiet = false
    },
    setMarks: (marks, line = null) => view.dispatch({ effects: [showMarks.of(marks), ...sight(line, marks?.running)] }),
    setHalts(lines) {
      const { doc } = view.state
      const marked = [...lines].filter((line) => line <= doc.lines).sort((a, b) => a - b)
      const marks = RangeSet.of(marked.map((line) => HALT.range(doc.line(line).from)))
      view.dispatch({ effects: halts.reconfigure(lineNumberMarkers.of(marks)) })
    },
    setLabel: (...next) => view.dispatch({ effects: labels.reconfigure(labelled(...next)) }),
    showLine: (line) => view.dispatch({ effects: sight(line) }),
    focus: () => view.focus(),
    destroy() {
      window.removeEventListener('keydown', pageKey)
      view.destroy()
    },
  }
}
