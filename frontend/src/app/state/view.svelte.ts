// What the reader looks at: the one view state that the address keeps, and what the panels show each other.

import type { Box } from '../../api/types'
import { START } from '../../core/address'
import { isSmall, sheetOf } from '../../core/layout/fold'
import { openingChoice } from '../../core/layout/opening'
import type { Lang, Level, Panel, Selection, Theme, ViewState } from '../../core/state'
import { stepOfGrads, visitAt } from '../../core/trace/visits'
import type { Pointed } from '../../core/trace/pointing'
import { nodeOfStep } from '../../core/trace/steps'
import { gradientWay, reach, sharing, type Way } from '../../core/trace/ways'
import { loadWords } from '../../core/words/lexicon'
import { wordsOf, type Words } from '../../core/words/sentences'
import { remember, remembered } from './browser-storage'
import type { Draft } from './draft.svelte'
import { choiceAt } from './graphs'
import { problemText } from './problem'
import type { Run } from './run.svelte'

export type Tab = 'program' | 'modules' | 'variables'
export type PhoneView = 'program' | 'graph' | 'node' | 'panels' | 'output'

export class PageView {
  private readonly run: Run
  private readonly draft: Draft
  t: Words = $state.raw(wordsOf({}))
  state: ViewState = $state.raw(firstView())
  tab: Tab = $state('program')
  phone: PhoneView = $state('graph')
  /** Large type and nothing to press, for a projector. */
  presenting = $state(false)
  /** The line the pointer is on; null for none. */
  hoveredLine: number | null = $state(null)
  litLines: ReadonlySet<number> = $state.raw(new Set())
  /** Boxes that the lesson's words speak of, under the pointer. */
  spokenOf: ReadonlySet<string> | null = $state.raw(null)
  /** Which finding the inspector shows; null for none. */
  findingOpen: number | null = $state(null)
  /** A selection that shows a place and opens nothing over it. */
  unasked: Selection | null = $state.raw(null)
  /** What the engine panel writes beside nodes of the graph. */
  nodeNotes: ReadonlyMap<string, string> = $state.raw(new Map())
  /** Where to go back to from a node that was followed from elsewhere. */
  returning: { id: string; name: string } | null = $state.raw(null)
  /** Which way through the selected box is lit. */
  way: Way | null = $state(null)
  /** A line the editor is asked to show, and how often it was asked. */
  shownLine: { line: number; times: number } | null = $state.raw(null)
  /** A run with findings has come: from then on their sentences are fetched with the others. */
  private tellsFindings = false

  /** The line whose boxes light up in the graph: the one hovered in the editor. */
  readonly highlight: { line: number } | null = $derived.by(() =>
    this.hoveredLine === null || this.draft.edited ? null : { line: this.hoveredLine },
  )
  readonly selectedBox: Box | undefined = $derived.by(() =>
    this.state.selection?.kind === 'box' ? this.run.find?.byId(this.state.selection.id) : undefined,
  )
  /** The boxes that a lesson speaks of, or of that way, or without one those that share the memory of the selected box;
   *  null where there are none, or no gradient came by. */
  readonly lit: ReadonlySet<string> | null = $derived.by(() => {
    if (this.spokenOf) return this.spokenOf
    const { way, selectedBox: box } = this
    const { graph, index, find } = this.run
    if (!box || !graph || !index) return null
    if (!way) {
      const others = sharing(graph, index, box.id)
      return others.size > 0 ? others : null
    }
    if (way !== 'gradient') return reach(graph, box.id, way)
    const node = index.node(box.node)
    const at = node && visitAt(index, node, this.state.step, graph.passes ?? [])
    return at ? new Set(gradientWay(index, at).flatMap((id) => find?.ofNode(id)?.id ?? [])) : null
  })
  /** The step of which `.grad` is told. */
  readonly gradsAt: number = $derived.by(() => {
    const { index, graph } = this.run
    return index && graph ? stepOfGrads(index, graph, this.state.step) : this.state.step
  })
  /** Groups that are open: the reader's choice, or the opening one. */
  readonly open: ReadonlySet<string> = $derived.by(() => {
    const { graph } = this.run
    return this.state.expanded ?? (graph ? openingChoice(sheetOf(graph)) : new Set<string>())
  })
  /** The graph to draw: by the reader's choice, or else that of the pass the step belongs to. */
  readonly wanted: string = $derived.by(() => {
    const level = this.run.hidesFlow ? 'both' : this.state.level
    return JSON.stringify(choiceAt(this.run.whole, { ...this.state, level }, this.state.step))
  })
  /** What the inspector follows while nothing is selected: the box the step concerns, or the latest one before it. In a
   *  model a pass that has ended is told of by where it began: the leaf it came to last says nothing of it. */
  readonly followedBox: Box | undefined = $derived.by(() => {
    const { index, find, graph } = this.run
    if (!index || !find || !graph) return undefined
    const isModel = !isSmall(graph.boxes.length, graph.groups)
    for (let at = this.state.step; at > 0; at -= 1) {
      const event = index.event(at)
      const ended = isModel && event?.kind === 'pass_end' ? index.passes.get(event.pass!) : undefined
      const box = find.ofNode(ended ? ended.roots[0]?.node : nodeOfStep(index, event)?.id) ?? find.ofOp(event?.op)
      if (box) return box
    }
    return undefined
  })
  /** Where what the inspector tells of stands: the box, or that of the tensor which a selected line changed. */
  readonly toldBox: Box | undefined = $derived.by(() => {
    const { selection } = this.state
    const line = selection?.kind === 'line' ? selection.line : null
    const change = this.run.trace?.updates.find(({ span }) => span?.line === line)?.changes[0]
    const changed = change && this.run.find?.ofTensor(change.leaf ?? change.after ?? change.before)
    return this.selectedBox ?? changed ?? this.followedBox
  })
  /** What the picture opens at where it has no trouble to show: of a small graph too large for its window what is told
   *  of beside it, and not where its pass began. */
  readonly opensAt: Box | undefined = $derived.by(() => {
    const { graph, trace } = this.run
    const isWell = trace && !trace.failure && trace.findings.every(({ severity }) => severity === 'note')
    return isWell && graph && isSmall(graph.boxes.length, graph.groups) ? this.toldBox : undefined
  })

  constructor(run: Run, draft: Draft) {
    this.run = run
    this.draft = draft
  }

  change(part: Partial<ViewState>): void {
    const { lang } = this.state
    if (part.selection !== undefined) this.returning = null
    this.state = { ...this.state, ...part }
    if (this.state.lang !== lang) void this.speak()
  }

  /** Fetches the words of the language on show; the old ones stay until they are here. */
  async speak(): Promise<void> {
    const { lang } = this.state
    const words = await loadWords(lang, this.tellsFindings)
    if (this.state.lang === lang) this.t = words
  }

  /** Fetches the sentences of findings. Where they are not to be had, each finding shows its code. */
  async learnFindings(): Promise<void> {
    this.tellsFindings = true
    await this.speak().catch(() => undefined)
  }

  select(selection: Selection | null): void {
    this.findingOpen = null
    this.change({ selection })
  }

  /** Another run comes, or none: what names parts of the last one, and is not in the address, goes. */
  forget(): void {
    this.returning = null
    this.unasked = null
    this.way = null
    this.speakOf(null)
  }

  /** Selects a box, where there is one. */
  showBox(box: Box | undefined): void {
    if (box) this.select({ kind: 'box', id: box.id })
  }

  showNode(id: string | null | undefined): void {
    this.showBox(this.run.find?.ofNode(id))
  }

  showTensor(id: string | null | undefined): void {
    this.showBox(this.run.find?.ofTensor(id))
  }

  /** Selects what a line of the program made, by its last box, or the line when it did something that has none; another
   *  one leaves the selection alone, unless a question asks for a line. */
  clickLine(line: number): void {
    if (!this.draft.edited) {
      const last = this.run.lines?.boxesOf.get(line)?.at(-1)
      if (last) this.select({ kind: 'box', id: last })
      else if (this.run.isTelling(line) || this.run.asksForLine) this.select({ kind: 'line', line })
    }
    this.showLine(line)
  }

  showLine(line: number): void {
    this.shownLine = { line, times: (this.shownLine?.times ?? 0) + 1 }
  }

  /** Lights lines of the program. */
  light(lines: readonly number[]): void {
    this.litLines = new Set(lines)
  }

  /** Lights what a lesson speaks of. */
  speakOf(at: Pointed | null): void {
    this.spokenOf = at && at.boxes.size > 0 ? at.boxes : null
    this.light(at?.lines ?? [])
  }

  toggleWay(way: Way): void {
    this.way = this.way === way ? null : way
  }

  /** Writes a few letters beside nodes, until the answer is called. */
  note(notes: ReadonlyMap<string, string>): () => void {
    this.nodeNotes = notes
    return () => (this.nodeNotes = new Map())
  }

  showFindings(at = 0): void {
    this.findingOpen = at
    this.phone = 'node'
  }

  /** Opens a panel under the graph; the one that is open closes. */
  togglePanel(panel: Panel): void {
    this.change({ panel: this.state.panel === panel ? null : panel })
  }

  /** Puts other runs beside this one. */
  besides(beside: readonly string[]): void {
    this.change({ panel: 'compare', beside })
  }

  toggleGroup(id: string): void {
    const expanded = new Set(this.open)
    if (!expanded.delete(id)) expanded.add(id)
    this.change({ expanded })
  }

  /** Draws the same run by another level, root or pass; the old picture stays until the new one is here. */
  choose(part: Partial<Pick<ViewState, 'level' | 'root' | 'pass'>>): void {
    this.change({ ...part, selection: null, expanded: null })
  }

  setLevel(level: Level): void {
    if (level !== this.state.level) this.choose({ level })
  }

  setLang(lang: Lang): void {
    this.change({ lang })
    remember('lang', lang)
  }

  setTheme(theme: Theme): void {
    this.change({ theme })
    remember('theme', theme)
  }

  sentenceOf(error: unknown): string {
    return problemText(error, this.t)
  }
}

function firstView(): ViewState {
  const lang = remembered('lang')
  const theme = remembered('theme')
  const own = navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
  return {
    ...START, lang: lang === 'zh' || lang === 'en' ? lang : own,
    theme: theme === 'light' || theme === 'dark' ? theme : 'auto',
  }
}
