// The playground's state: the program in the editor, the run on screen, and the one view state that the address keeps.

import * as api from '../../api/client'
import type { Box, Graph, Trace } from '../../api/types'
import type { Lang, Level, Panel, Selection, Theme, ViewState } from '../../core/state'
import { applyEdits } from '../../core/trace/fix'
import { sheetOf } from '../../core/layout/fold'
import { openingChoice } from '../../core/layout/opening'
import { linesOfGraph, TraceIndex } from '../../core/trace/trace-index'
import { wordsOf, type Words } from '../../core/words/sentences'
import { choiceAt, Graphs } from './graphs'
import { loadWords } from '../../core/words/lexicon'
import { boxFinder } from '../../core/trace/naming'
import {
  draftOf, keepDraft, keepRun, recentRuns, remember, remembered, tellingLine, type Recent,
} from './browser-storage'
import { nodeOfStep } from '../../core/trace/story'
import { Then } from '../../core/trace/history'

export type Tab = 'program' | 'modules' | 'variables'
export type PhoneView = 'program' | 'graph' | 'node' | 'panels' | 'output'

/** What is drawn: a trace and the graph made of it always change together. */
interface Shown {
  trace: Trace
  graph: Graph
}

const SHOW_RUNNING_MS = 300
const LOOK_AGAIN_MS = 500
const HALT_MS = 3000
/** Longer than a frame takes, even on a slow machine. */
const UNPAINTED_MS = 100

export class Playground {
  t: Words = $state.raw(wordsOf({}))
  code = $state('')
  device = $state('cpu')
  seed = $state(0)
  /** What to work out once a program has ended: its gradients by differences, Jacobians. */
  checks: api.CheckKind[] = $state([])
  /** The two numbers chosen for a surface. */
  private axes: string[] = []
  autoRun = $state(remembered('autoRun') === 'yes')
  view: ViewState = $state.raw(firstView())
  shown: Shown | null = $state.raw(null)
  /** A picture that is drawn before the rest of the page says the same: where only a number was edited, it is what the
   *  eye waits for. */
  private ahead: Shown | null = $state.raw(null)
  lessons: api.Lesson[] = $state.raw([])
  lessonsMissing = $state(false)
  health: api.Health | null = $state.raw(null)
  rules: ReadonlyMap<string, api.Rule> = $state.raw(new Map())
  /** `quiet` for the first 300 ms, so that a quick run never flickers. */
  running: 'no' | 'quiet' | 'shown' = $state('no')
  /** Programs in the queue before the one on its way. */
  /** Where the run under way stands, once it takes long. */
  place: api.Place | null = $state.raw(null)
  problem: string | null = $state(null)
  hoveredLine: number | null = $state(null)
  litLines: ReadonlySet<number> = $state.raw(new Set())
  tab: Tab = $state('program')
  phone: PhoneView = $state('graph')
  playing = $state(false)
  /** Which finding the inspector shows; null for none. */
  findingOpen: number | null = $state(null)
  /** What the engine panel writes beside nodes of the graph. */
  nodeNotes: ReadonlyMap<string, string> = $state.raw(new Map())
  /** Runs of this tab, newest first. */
  recent: readonly Recent[] = $state.raw(recentRuns())
  /** A line the editor is asked to show, and how often it was asked. */
  shownLine: { line: number; times: number } | null = $state.raw(null)

  private abort: AbortController | null = null
  /** Brings the rest of the page to the picture that is ahead of it. */
  private catchUp: (() => void) | null = null
  private graphAbort: AbortController | null = null
  private readonly graphs = new Graphs()
  /** A run with findings has come: from then on their sentences are fetched with the others. */
  private tellsFindings = false
  private autoTimer: ReturnType<typeof setTimeout> | undefined
  private playTimer: ReturnType<typeof setTimeout> | undefined

  readonly trace: Trace | null = $derived(this.shown?.trace ?? null)
  readonly graph: Graph | null = $derived(this.shown?.graph ?? null)
  readonly picture: Shown | null = $derived(this.ahead ?? this.shown)
  readonly index: TraceIndex | null = $derived(this.trace ? new TraceIndex(this.trace) : null)
  readonly then: Then | null = $derived(this.index ? new Then(this.index) : null)
  readonly find = $derived(this.graph && this.index ? boxFinder(this.graph, this.index) : null)
  readonly lines = $derived(this.graph ? linesOfGraph(this.graph) : null)
  readonly total: number = $derived(this.trace?.timeline.length ?? 0)
  readonly edited: boolean = $derived(this.trace !== null && this.code !== this.trace.program.code)
  readonly lesson: api.Lesson | null = $derived(this.lessons.find((one) => one.name === this.view.lesson) ?? null)
  /** The line whose boxes light up in the graph: the one hovered in the editor. */
  readonly highlight: { line: number } | null = $derived(
    this.hoveredLine === null || this.edited ? null : { line: this.hoveredLine },
  )
  readonly selectedBox: Box | undefined = $derived(
    this.view.selection?.kind === 'box' ? this.find?.byId(this.view.selection.id) : undefined,
  )
  /** Groups that are open: the reader's choice, or the opening one. */
  readonly open: ReadonlySet<string> = $derived(
    this.view.expanded ?? (this.graph ? openingChoice(sheetOf(this.graph)) : new Set<string>()),
  )
  /** The graph to draw: by the reader's choice, or else that of the pass the step belongs to. */
  readonly wanted: string = $derived(JSON.stringify(choiceAt(this.trace, this.view, this.view.step)))
  /** What the inspector follows while nothing is selected: the box the step concerns, or the latest one before it. */
  readonly followedBox: Box | undefined = $derived.by(() => {
    const { index, find } = this
    if (!index || !find) return undefined
    for (let at = this.view.step; at > 0; at -= 1) {
      const event = index.event(at)
      const box = find.ofNode(nodeOfStep(index, event)?.id) ?? find.ofOp(event?.op)
      if (box) return box
    }
    return undefined
  })

  change(part: Partial<ViewState>): void {
    const { lang } = this.view
    this.view = { ...this.view, ...part }
    if (this.view.lang !== lang) void this.speak()
  }

  /** Fetches the words of the language on show; the old ones stay until they are here. */
  async speak(): Promise<void> {
    const { lang } = this.view
    const words = await loadWords(lang, this.tellsFindings)
    if (this.view.lang === lang) this.t = words
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

  /** Selects what a line of the program made, by its last box, or the line when it did something that has none; another
   *  one leaves the selection alone. */
  clickLine(line: number): void {
    const boxes = this.edited ? [] : (this.lines?.boxesOf.get(line) ?? [])
    const last = boxes[boxes.length - 1]
    if (last) this.select({ kind: 'box', id: last })
    else if (!this.edited && this.isTelling(line)) this.select({ kind: 'line', line })
    this.showLine(line)
  }

  /** Whether there is something to tell of a line that has no box: what it did, or the devices it speaks of. */
  private isTelling(line: number): boolean {
    const { ops = [], program } = this.trace ?? {}
    return (
      ops.some((op) => op.span?.line === line && (op.outputs.length > 0 || op.raised)) ||
      /cuda|cudnn/i.test(program?.code.split('\n')[line - 1] ?? '')
    )
  }

  showLine(line: number): void {
    this.shownLine = { line, times: (this.shownLine?.times ?? 0) + 1 }
  }

  showFindings(at = 0): void {
    this.findingOpen = at
    this.phone = 'node'
  }

  /** Opens a panel under the graph; the one that is open closes. */
  togglePanel(panel: Panel): void {
    this.change({ panel: this.view.panel === panel ? null : panel })
  }

  /** Puts other runs beside this one. */
  besides(beside: readonly string[]): void {
    this.change({ panel: 'compare', beside })
  }

  /** The program that ran, with the fix of a finding in it; null when it has no certain one. */
  fixedBy(at: number): string | null {
    const fix = this.trace?.findings[at]?.fix
    return this.trace && fix?.length ? applyEdits(this.trace.program.code, fix) : null
  }

  /** Puts a fix into the editor, where it can be undone, and shows what it changed. A program edited since it ran stays
   *  as it is. */
  applyFix(at: number): void {
    const fixed = this.fixedBy(at)
    if (fixed === null || this.edited) return
    this.edit(fixed)
    this.showFindings(at)
  }

  toggleGroup(id: string): void {
    const expanded = new Set(this.open)
    if (!expanded.delete(id)) expanded.add(id)
    this.change({ expanded })
  }

  setLang(lang: Lang): void {
    this.change({ lang })
    remember('lang', lang)
  }

  setTheme(theme: Theme): void {
    this.change({ theme })
    remember('theme', theme)
  }

  setAutoRun(on: boolean): void {
    this.autoRun = on
    remember('autoRun', on ? 'yes' : 'no')
  }

  goTo(step: number): void {
    const bounded = Math.max(0, Math.min(this.total, Math.round(step)))
    if (bounded === this.view.step) return
    this.findingOpen = null
    this.change({ step: bounded })
  }

  edit(code: string): void {
    this.code = code
    this.keepDraft()
    clearTimeout(this.autoTimer)
    if (this.autoRun && code.trim()) this.autoTimer = setTimeout(() => void this.run(), 600)
  }

  private keepDraft(): void {
    keepDraft(this.trace?.id ?? null, this.code === (this.trace?.program.code ?? '') ? null : this.code)
  }

  play(on: boolean): void {
    clearTimeout(this.playTimer)
    this.playing = on && this.total > 0
    if (!this.playing) return
    if (this.view.step >= this.total) this.goTo(0)
    const eachMs = Math.min(700, 12000 / this.total)
    const stride = Math.max(1, Math.ceil(16 / eachMs))
    const tick = (): void => {
      if (!this.playing) return
      this.goTo(this.view.step + stride)
      if (this.view.step >= this.total) this.playing = false
      else this.playTimer = setTimeout(tick, Math.max(eachMs * stride, 16))
    }
    this.playTimer = setTimeout(tick, Math.min(eachMs, 200))
  }

  async start(view: Partial<ViewState>): Promise<void> {
    this.change(view)
    void this.fetchSides()
    if (this.view.run) await this.load(this.view.run)
    else if (this.view.lesson) {
      await this.fetchLessons()
      const lesson = this.lessons.find((one) => one.name === this.view.lesson)
      if (lesson) await this.openLesson(lesson, this.view.step > 0)
    } else if (!this.trace) this.code = draftOf(null) ?? this.code
  }

  async openLesson(lesson: api.Lesson, keepStep = false): Promise<void> {
    this.axes = []
    this.code = lesson.code
    this.tab = 'program'
    this.change({ lesson: lesson.name })
    await this.run(keepStep)
  }

  blank(): void {
    this.stop()
    this.catchUp?.()
    this.code = ''
    this.shown = null
    this.problem = null
    this.keepDraft()
    this.change({ lesson: null, run: null, step: 0, selection: null, expanded: null, root: null, pass: null })
  }

  stop(): void {
    this.abort?.abort()
    this.abort = null
    this.running = 'no'
  }

  async run(keepView = false): Promise<void> {
    if (!this.code.trim()) {
      this.problem = this.t('problem.empty')
      return
    }
    clearTimeout(this.autoTimer)
    this.play(false)
    this.phone = 'graph'
    const order = { code: this.code, device: this.device, seed: this.seed, check: [...this.checks], axes: this.axes }
    await this.attempt(async (signal) => {
      const choice = this.likely()
      const { trace, graph } = await api.run(order, choice, this.view.lang, signal, (id) =>
        this.graphs.expect(id, choice, this.view.lang, signal),
      )
      if (graph) this.graphs.keep(trace.id, choice, graph)
      await this.show(trace, keepView ? 'keep' : 'compare', signal)
      const [check] = order.check
      if (check && this.view.panel === null)
        this.change({ panel: check === 'surface' ? 'training' : check === 'calls' ? 'calls' : 'checks' })
    })
  }

  /** The graph that the next run will probably be shown by: that of the same pass as the last one, as if a number had
   *  been edited. */
  private likely(): api.GraphChoice {
    return choiceAt(this.trace, { ...this.view, root: null, pass: null }, this.view.step)
  }

  /** Runs the program again, this time with a check. */
  async check(kind: api.CheckKind, axes: string[] = []): Promise<void> {
    this.axes = axes
    if (!this.checks.includes(kind)) this.checks = [...this.checks, kind]
    const { phone } = this
    const done = this.run()
    this.phone = phone
    await done
  }

  private async load(id: string): Promise<void> {
    await this.attempt(async (signal) => {
      const trace = await api.trace(id, this.view.lang, signal)
      this.code = draftOf(trace.id) ?? trace.program.code
      this.seed = trace.program.seed ?? 0
      this.device = trace.program.device ?? 'cpu'
      await this.show(trace, 'keep', signal)
    }, false)
  }

  /** One request at a time: a newer one replaces the one under way. `queued`: it may have to wait for others'
   *  programs. */
  private async attempt(work: (signal: AbortSignal) => Promise<void>, queued = true): Promise<void> {
    this.stop()
    this.catchUp?.()
    const abort = (this.abort = new AbortController())
    this.problem = null
    this.running = 'quiet'
    const timer = setTimeout(() => {
      if (this.abort !== abort) return
      this.running = 'shown'
      if (queued) void this.followQueue(abort)
    }, SHOW_RUNNING_MS)
    try {
      await work(abort.signal)
    } catch (error) {
      if (!abort.signal.aborted) this.problem = this.sentenceOf(error)
    } finally {
      clearTimeout(timer)
      if (this.abort === abort) this.stop()
    }
  }

  /** The person has seen enough: a run that has begun gives what it recorded so far. */
  async halt(): Promise<void> {
    const { abort, place } = this
    if (place?.state !== 'running') return this.stop()
    await api.cancel(place.run, this.view.lang).catch(() => undefined)
    setTimeout(() => this.abort === abort && this.stop(), HALT_MS) // the answer should be here by then
  }

  /** Looks now and then where the run stands: how many are ahead, then which line it is at. */
  private async followQueue(abort: AbortController): Promise<void> {
    this.place = null
    try {
      while (this.abort === abort) {
        const place = await api.place(this.view.lang, abort.signal)
        if (this.abort !== abort) return
        this.place = place
        await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
      }
    } catch {
      // The run itself says what is wrong, or is over by now.
    }
  }

  private async show(trace: Trace, how: 'keep' | 'compare', signal: AbortSignal): Promise<void> {
    const before = this.trace
    const kept = how === 'keep'
    const total = trace.timeline.length
    const same = before !== null && sameStory(before, trace)
    const step = kept ? Math.min(this.view.step, total) : same ? this.view.step : total
    const choice = kept ? this.view : { ...this.view, root: null, pass: null }
    const [graph] = await Promise.all([
      this.graphs.of(trace.id, choiceAt(trace, choice, step), this.view.lang, signal),
      trace.findings.length > 0 && this.learnFindings(),
    ])
    this.graphAbort?.abort()
    const shown = { trace, graph }
    const anew = { ...(same ? {} : { step }), ...(kept || same ? {} : { selection: null, expanded: null }) }
    this.catchUp = () => this.settle(shown, kept, { root: choice.root, pass: choice.pass, ...anew })
    if (same) {
      this.ahead = shown
      await painted()
    }
    this.catchUp?.()
  }

  /** All of the page says what a run was, the view too where it is another one now. */
  private settle(shown: Shown, kept: boolean, view: Partial<ViewState>): void {
    const { trace, graph } = shown
    const line = tellingLine(trace.program, this.trace?.program ?? { code: '' })
    this.catchUp = null
    this.shown = shown
    this.ahead = null
    this.recent = keepRun(this.recent, {
      id: trace.id, at: Date.now(), lesson: this.view.lesson, line, status: trace.status,
    })
    this.keepDraft()
    // A phone shows one view: with nothing to draw, the line that failed says more.
    if (trace.failure && graph.boxes.length === 0) this.phone = 'program'
    // Where the inspector has a place of its own, what went wrong is told without being asked; not over what the
    // address selects.
    const isAsked = kept && this.view.selection !== null
    this.findingOpen =
      !isAsked && matchMedia('(min-width: 1280px)').matches && trace.findings.some((one) => one.severity !== 'note')
        ? 0
        : null
    this.change({ run: trace.id, ...view })
  }

  /** Draws the same run by another level, root or pass; the old picture stays until the new one is here. */
  choose(part: Partial<Pick<ViewState, 'level' | 'root' | 'pass'>>): void {
    this.change({ ...part, selection: null, expanded: null })
  }

  /** Fetches the graph that is wanted now; the old picture stays until it is here. */
  async redraw(wanted: api.GraphChoice): Promise<void> {
    const { trace } = this
    this.graphAbort?.abort()
    if (!trace || this.isDrawn(wanted)) return
    const abort = (this.graphAbort = new AbortController())
    try {
      const graph = await this.graphs.of(trace.id, wanted, this.view.lang, abort.signal)
      if (!abort.signal.aborted && this.trace === trace && graph !== this.graph) this.shown = { trace, graph }
    } catch (error) {
      if (!abort.signal.aborted) this.problem = this.sentenceOf(error)
    }
  }

  /** Whether the picture on show is also that of another pass: one whose layers hang together with its own. */
  private isDrawn({ level, root, pass, alone }: api.GraphChoice): boolean {
    const { passes = [], level: shown } = this.graph ?? {}
    return !alone && root === null && pass !== null && level === shown && passes.length > 1 && passes.includes(pass)
  }

  setLevel(level: Level): void {
    if (level !== this.view.level) this.choose({ level })
  }

  sentenceOf(error: unknown): string {
    if (!(error instanceof api.Problem))
      return this.t('problem.view', { message: error instanceof Error ? error.message : String(error) })
    if (error.kind === 'network') return this.t('problem.network')
    if (error.kind === 'unreadable') return this.t('problem.unreadable', { status: error.status })
    return error.sentence
  }

  private async fetchSides(): Promise<void> {
    await Promise.all([
      this.fetchLessons(),
      api.health(this.view.lang).then(
        (health) => (this.health = health),
        () => undefined, // without it, only CUDA is not offered
      ),
      api.rules(this.view.lang).then(
        (rules) => (this.rules = new Map(rules.map((rule) => [rule.id, rule]))),
        () => undefined, // without them, the inspector says there is no written rule
      ),
    ])
  }

  private async fetchLessons(): Promise<void> {
    if (this.lessons.length > 0) return
    try {
      this.lessons = await api.gallery(this.view.lang)
      this.lessonsMissing = false
    } catch {
      this.lessonsMissing = true
    }
  }
}

/** Done when what has changed so far has been painted, or in a tab behind others would have been. */
function painted(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve))
    setTimeout(resolve, document.hidden ? 0 : UNPAINTED_MS)
  })
}

/** Two runs tell the same story when the same kinds of things happened in the same order: an edited number, not an
 *  edited line. */
function sameStory(a: Trace, b: Trace): boolean {
  if (a.timeline.length !== b.timeline.length || a.nodes.length !== b.nodes.length) return false
  return a.timeline.every((step, at) => step.kind === b.timeline[at]?.kind)
}

function firstView(): ViewState {
  const lang = remembered('lang')
  const theme = remembered('theme')
  return {
    run: null,
    lesson: null,
    step: 0,
    selection: null,
    expanded: null,
    level: 'both',
    root: null,
    pass: null,
    panel: null,
    beside: [],
    lang: lang === 'zh' || lang === 'en' ? lang : navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en',
    theme: theme === 'light' || theme === 'dark' ? theme : 'auto',
  }
}
