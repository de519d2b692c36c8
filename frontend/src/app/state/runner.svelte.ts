// Runs programs and shows what came of them: one request at a time, a newer one replaces the one under way.

import * as api from '../../api/client'
import type { Fixes, Trace, WhatIf } from '../../api/types'
import { LAST, START } from '../../core/address'
import type { ViewState } from '../../core/state'
import { applyEdits } from '../../core/trace/edits'
import { withoutNumbers } from '../../core/trace/questions'
import { indexOf } from '../../core/trace/trace-index'
import { isMadeOf } from '../../core/words/made-of'
import { keepGivenUp, keepRun, tellingLine, wasGivenUp, type Recent } from './browser-storage'
import type { Catalogue } from './catalogue.svelte'
import type { Draft } from './draft.svelte'
import { choiceAt, Graphs } from './graphs'
import type { Hand } from './hand'
import { followPlace, SHOW_RUNNING_MS } from './place'
import type { Playback } from './playback.svelte'
import type { Run, Shown } from './run.svelte'
import { Turns, type Value } from './turns'
import type { PageView } from './view.svelte'

const FIRST_LESSON = 'diamond'
const HALT_MS = 10_000
const AUTO_RUN_MS = 600
/** How long nothing must be turned before the page looks beyond the picture. */
const REST_MS = 600
/** How often the server is asked what came of fixes, and for how long it may think each time. */
const ASK_FIXES = 4
const FIXES_S = 10
const ASK_FIXES_AGAIN_MS = 1000
/** Longer than a frame takes, even on a slow machine. */
const UNPAINTED_MS = 100

/** What a check is shown by, where no panel is open. */
const PANEL_OF_CHECK = {
  surface: 'training', calls: 'calls', 'finite-difference': 'checks', jacobian: 'checks',
} as const satisfies Record<api.CheckKind, ViewState['panel']>

/** How another program is seen. */
const ANOTHER: Partial<ViewState> = { level: START.level, panel: null, beside: [] }

/** Whether a program is the one before with a few lines changed, and not another one. */
function isEdit(before: Trace, after: Trace): boolean {
  const written = (trace: Trace) => trace.program.code.split('\n').filter((line) => !/^\s*(import\b|from\b|#|$)/.test(line))
  const lines = new Set(written(before).map((line) => line.trim()))
  const now = written(after).map((line) => line.trim())
  return now.filter((line) => lines.has(line)).length * 2 >= now.length
}

export class Runner {
  /** `quiet` for the first 300 ms, so that a quick run never flickers. */
  running: 'no' | 'quiet' | 'shown' = $state('no')
  /** Where the run under way stands, once it takes long. */
  place: api.Place | null = $state.raw(null)
  problem: string | null = $state(null)

  private readonly shown: Run
  private readonly draft: Draft
  private readonly view: PageView
  private readonly playback: Playback
  private readonly catalogue: Catalogue
  private readonly graphs = new Graphs()
  private abort: AbortController | null = null
  /** What is under way runs a program. */
  private runsProgram = false
  private graphAbort: AbortController | null = null
  private fixesAbort: AbortController | null = null
  private autoTimer: ReturnType<typeof setTimeout> | undefined
  private noticeTimer: ReturnType<typeof setTimeout> | undefined
  private restTimer: ReturnType<typeof setTimeout> | undefined
  /** What is left to do once nothing is turned any more. */
  private resting: () => void = () => undefined
  /** The request for what a number was turned to last; null while none is under way. */
  private asked: { since: number; abort: AbortController } | null = null
  private readonly turns = new Turns<Trace>()
  /** What ends the following of a turned number: that of the work under way, while one is followed. */
  private following: AbortController | null = null
  /** What is being brought on screen of it. */
  private presenting: Trace | null = null
  private presented: Promise<void> | null = null

  constructor(run: Run, draft: Draft, view: PageView, playback: Playback, catalogue: Catalogue) {
    this.shown = run
    this.draft = draft
    this.view = view
    this.playback = playback
    this.catalogue = catalogue
  }

  /** Shows what an address says: a run, a lesson, or the program that was being written. */
  async start(view: Partial<ViewState>): Promise<void> {
    const atEnd = (view.step ?? this.view.state.step) === LAST // which step that is, the run will say
    this.view.change(atEnd ? { ...view, step: 0 } : view)
    void this.catalogue.fetch()
    const isGivenUp = wasGivenUp()
    const { run, lesson: name, step } = this.view.state
    if (run) await this.load(run, atEnd)
    else if (name) {
      await this.catalogue.fetchLessons()
      const lesson = this.catalogue.named(this.view.state.lesson)
      if (lesson) await this.openLesson(lesson, step > 0, false)
    } else if (!this.shown.trace) {
      this.draft.recall()
      if (!this.draft.code.trim()) await this.welcome()
    }
    const runsAgain = !run && name
    if (isGivenUp && !runsAgain) this.problem ??= this.view.t('problem.given_up')
  }

  /** The page goes for good: what the next one finds does not say what has become of the run under way. */
  leave(): void {
    if (this.runsProgram && this.running !== 'no') keepGivenUp()
  }

  /** A first visit finds an example that has run, at the step where its gradients meet, unless a program is begun. */
  private async welcome(): Promise<void> {
    await this.catalogue.fetchLessons()
    const lesson = this.catalogue.lessons.find(({ name }) => name === FIRST_LESSON)
    if (!lesson || this.draft.code.trim() || this.running !== 'no' || isWriting()) return
    this.shown.questions.resting = withoutNumbers(lesson.code)
    await this.openLesson(lesson)
    const { trace } = this.shown
    const sum = trace?.timeline.findLastIndex(({ kind }) => kind === 'sum') ?? -1
    if (trace?.program.code === lesson.code && sum >= 0) this.view.change({ step: sum + 1 })
  }

  async openLesson(lesson: api.Lesson, keepStep = false, leaves = true): Promise<void> {
    this.draft.code = lesson.code
    this.view.tab = 'program'
    this.view.change({ lesson: lesson.name })
    await this.run(keepStep, leaves)
  }

  blank(): void {
    this.stop()
    this.draft.code = ''
    this.shown.shown = null
    this.shown.stale = null
    this.problem = null
    this.draft.keep()
    this.view.forget()
    this.view.change({
      lesson: null, run: null, step: 0, selection: null, expanded: null, root: null, pass: null, ...ANOTHER,
    })
  }

  /** What is typed, followed after a while where that was asked for. One number of what is told of, a picture's or a
   *  failure's, is followed at once. */
  edit(code: string, isRetuned = false): void {
    const { draft } = this
    if (isRetuned && this.shown.trace && (!draft.edited || this.tellsOf(draft.code))) return this.turn(code)
    draft.code = code
    draft.turning = false
    draft.keep()
    clearTimeout(this.autoTimer)
    if (draft.autoRun && code.trim()) this.autoTimer = setTimeout(() => this.turn(code), AUTO_RUN_MS)
  }

  /** Runs a changed program under the reader's hand: nothing moves but what the change changes, and the last good
   *  picture stays where it fails. One run is under way at a time; one that is overdue is given up. */
  turn(code: string, stroke = 0, hand: Hand | null = null): void {
    const { draft, asked } = this
    clearTimeout(this.autoTimer)
    clearTimeout(this.restTimer)
    this.playback.play(false)
    this.shown.failing = draft.failing
    draft.code = code
    draft.stroke = stroke
    draft.turning = true
    draft.held = hand?.isDown === true
    if (hand) hand.released = () => this.released()
    this.turns.turn(code, stroke, hand)
    if (!this.abort || this.following !== this.abort) return void this.follow()
    this.present(this.abort.signal)
    if (asked && this.turns.isOverdue(performance.now() - asked.since)) asked.abort.abort()
  }

  private released(): void {
    const { draft } = this
    draft.held = false
    if (draft.turning && draft.code === this.shown.whole?.program.code) this.restSoon()
  }

  private async follow(): Promise<void> {
    const { draft, turns } = this
    await this.attempt(async (signal) => {
      this.following = this.abort
      turns.forget()
      this.present(signal)
      while (!signal.aborted) {
        const value = draft.turning ? turns.next((code) => this.tellsOf(code)) : null
        if (value) await this.ask(value, signal)
        else if (this.presenting) await this.presented // there may be another value then
        else break
      }
      if (!signal.aborted && draft.code === this.shown.whole?.program.code) this.restSoon()
    })
    draft.keep()
  }

  /** Whether the page tells what came of a program, or is about to. */
  private tellsOf(code: string): boolean {
    const { failing, shown } = this.shown
    return [this.presenting, (failing ?? shown)?.trace].some((trace) => trace?.program.code === code)
  }

  /** Shows what the hand has come to, each once what was shown before is painted. */
  private present(signal: AbortSignal): void {
    if (!this.presenting) this.presented = this.presentAll(signal)
  }

  private async presentAll(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted && (this.presenting = this.turns.due() ?? null))
        await this.show(this.presenting, 'turned', signal)
    } catch (error) {
      this.fail(error, signal)
    } finally {
      this.presenting = null
    }
  }

  /** Runs a value, and gives it up for a newer one once it is overdue. What comes of it is shown while the next one
   *  runs. */
  private async ask(value: Value, signal: AbortSignal): Promise<void> {
    const { state } = this.view
    const asked = (this.asked = { since: performance.now(), abort: new AbortController() })
    const both = AbortSignal.any([signal, asked.abort.signal])
    const choice = choiceAt(this.shown.whole, state, state.step)
    this.notice()
    try {
      const order = { ...this.draft.order, code: value.code }
      const { trace, graph } = await api.run(order, choice, state.lang, both, () => undefined)
      if (graph) this.graphs.keep(trace.id, choice, graph)
      this.turns.hold(value, trace, performance.now() - asked.since)
      this.present(signal)
    } catch (error) {
      if (signal.aborted || !both.aborted) throw error
      this.turns.giveUp()
    } finally {
      this.asked = null
    }
  }

  /** Puts a fix into the editor, where it can be undone, runs it, and shows the run beside the one before. A program
   *  edited since it ran stays as it is. */
  async applyFix(at: number): Promise<void> {
    const { trace: before } = this.shown
    const mended = this.shown.mendedBy(at)
    if (!before || mended === null || this.draft.edited) return
    this.list(before, { key: 'fix.before', name: '' })
    this.edit(mended)
    await this.run()
    const { trace } = this.shown
    if (trace?.id === before.id || trace?.program.code !== mended) return
    this.view.besides([before.id])
    const lines = before.program.code.split('\n')
    this.view.clickLine(mended.split('\n').findIndex((line, at) => line !== lines[at]) + 1)
    this.view.unasked = this.view.state.selection
  }

  /** Runs the program on screen with one thing otherwise, and shows it beside; the id of that run. */
  async aside({ code: change, edits = [], name = '', seed }: WhatIf): Promise<string | null> {
    const { trace: before } = this.shown
    if (!before || this.draft.edited) return null
    const { code, device = 'cpu', seed: own = 0 } = before.program
    const order = { code: applyEdits(code, edits), device, seed: seed ?? own, check: [] }
    let made: Trace | null = null
    await this.attempt(async (signal) => {
      made = (await api.run(order, this.likely(), this.view.state.lang, signal, () => undefined)).trace
      this.list(made, { key: `whatif.${change}`, name })
      this.view.besides([made.id])
    })
    return made && (made as Trace).id
  }

  /** Learns which fixes mend, as the server tries them. Where it cannot say, they are no more than advice. */
  private async learnFixes(trace: Trace): Promise<void> {
    const { shown, view } = this
    this.fixesAbort?.abort()
    const abort = (this.fixesAbort = new AbortController())
    const isFixable = trace.findings.some((finding) => finding.fix)
    let told: Fixes = { format: 'gradgraph.fixes/1', run: trace.id, done: !isFixable }
    shown.fixes = told
    for (let asked = 0; asked < ASK_FIXES && !told.done; asked += 1) {
      if (asked > 0) await new Promise((resolve) => setTimeout(resolve, ASK_FIXES_AGAIN_MS))
      const done = asked === ASK_FIXES - 1
      told = await api.fixes(trace.id, FIXES_S, view.state.lang, abort.signal).catch(() => ({ ...told, done: true }))
      if (abort.signal.aborted) return
      shown.fixes = told = { ...told, done: told.done || done }
    }
  }

  /** `leaves`: the view may be that of another program. */
  async run(keepView = false, leaves = true): Promise<void> {
    if (!this.draft.code.trim()) {
      this.problem = this.view.t('problem.empty')
      return
    }
    clearTimeout(this.autoTimer)
    this.playback.play(false)
    this.view.phone = 'graph'
    if (leaves) this.leaveBehind()
    const { order } = this.draft
    await this.attempt(async (signal) => {
      const choice = this.likely()
      const { lang } = this.view.state
      // Another program may have no such pass.
      const expect = (id: string): void => {
        if (choice.pass === null) this.graphs.expect(id, choice, lang, signal)
      }
      const { trace, graph } = await api.run(order, choice, lang, signal, expect)
      if (graph) this.graphs.keep(trace.id, choice, graph)
      await this.show(trace, keepView ? 'kept' : 'new', signal)
      const [check] = order.check
      if (check && this.view.state.panel === null) this.view.change({ panel: PANEL_OF_CHECK[check] })
    })
  }

  /** A program that has little of the lesson left is not called by its name, and one that has little of the program
   *  before is not seen by what was chosen for that: its level, its panel, runs beside it. */
  private leaveBehind(): void {
    const { draft: { code }, shown: { trace }, view } = this
    const lesson = this.catalogue.named(view.state.lesson)
    if (lesson && !isMadeOf(code, lesson.code)) view.change({ lesson: null })
    if (trace && !isMadeOf(code, trace.program.code)) view.change(ANOTHER)
  }

  /** The graph that the next run will probably be shown by: that of the same pass as the last one, as if a number had
   *  been edited. */
  private likely(): api.GraphChoice {
    const { state } = this.view
    return choiceAt(this.shown.whole, { ...state, root: null, pass: null }, state.step)
  }

  /** Runs the program again, this time with a check. */
  async check(kind: api.CheckKind): Promise<void> {
    const { draft, view } = this
    if (!draft.checks.includes(kind)) draft.checks = [...draft.checks, kind]
    const { phone } = view
    const done = this.run()
    view.phone = phone
    await done
  }

  private async load(id: string, atEnd: boolean): Promise<void> {
    await this.attempt(async (signal) => {
      const { state } = this.view
      this.graphs.expect(id, choiceAt(null, state, state.step), state.lang, signal)
      const trace = await api.trace(id, state.lang, signal)
      this.draft.take(trace.id, trace.program)
      if (atEnd) this.view.change({ step: this.shown.endOf(trace) })
      await this.show(trace, 'kept', signal)
    }, false)
  }

  stop(): void {
    clearTimeout(this.noticeTimer)
    this.abort?.abort()
    this.abort = null
    this.running = 'no'
  }

  /** The person has seen enough: a run that has begun gives what it recorded so far. */
  async halt(): Promise<void> {
    const { abort, place } = this
    if (place?.state !== 'running') return this.giveUp()
    await api.cancel(place.run, this.view.state.lang).catch(() => undefined)
    setTimeout(() => this.abort === abort && this.giveUp(), HALT_MS) // the answer should be here by then
  }

  /** A number that was turned is an edit like any other: no picture of it will come. */
  private giveUp(): void {
    this.stop()
    this.draft.turning = false
  }

  /** `queued`: it may have to wait for others' programs. */
  private async attempt(work: (signal: AbortSignal) => Promise<void>, queued = true): Promise<void> {
    this.stop()
    const abort = (this.abort = new AbortController())
    this.problem = null
    this.runsProgram = queued
    this.notice(queued)
    try {
      await work(abort.signal)
    } catch (error) {
      this.fail(error, abort.signal)
    } finally {
      if (this.abort === abort) this.stop()
    }
  }

  private fail(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return
    this.problem = this.view.sentenceOf(error)
    this.draft.turning = false
  }

  /** Tells of a run that begins once it takes long. */
  private notice(queued = true): void {
    const { abort } = this
    this.running = 'quiet'
    clearTimeout(this.noticeTimer)
    this.noticeTimer = setTimeout(() => {
      if (this.abort !== abort || !abort) return
      this.running = 'shown'
      if (!queued) return
      this.place = null
      const isWanted = () => this.abort === abort
      void followPlace(this.view.state.lang, abort.signal, isWanted, (place) => (this.place = place))
    }, SHOW_RUNNING_MS)
  }

  /** `kept`: at the step and selection that the address says; `turned`: where the reader is, as far as that is still
   *  there. */
  private async show(trace: Trace, manner: 'new' | 'kept' | 'turned', signal: AbortSignal): Promise<void> {
    const before = this.shown.whole
    const { state } = this.view
    if (manner === 'turned' && this.failsNow(trace)) return
    const total = this.shown.endOf(trace)
    const same = before !== null && sameStory(before, trace)
    const isHeld = manner === 'turned' && state.step < (before?.timeline.length ?? 0)
    const step = manner === 'kept' || isHeld ? Math.min(state.step, total) : same ? Math.min(state.step, total) : total
    const choice = manner === 'kept' || (manner === 'turned' && same) ? state : { ...state, root: null, pass: null }
    const [graph] = await Promise.all([
      this.graphs.of(trace.id, choiceAt(trace, choice, step), state.lang, signal),
      trace.findings.length > 0 && this.view.learnFindings(),
    ])
    if (signal.aborted) return
    this.graphAbort?.abort()
    const shown = { trace, graph }
    const { root, pass } = choice
    const anew = manner === 'new' && !same ? { selection: null, expanded: null } : {}
    const moved = same && state.step <= total ? {} : { step }
    if (manner !== 'turned' || !same) this.view.forget()
    this.settle(shown, manner, { root, pass, ...moved, ...anew })
    if (manner === 'turned') await painted()
  }

  /** Whether what a number was turned to fails and what is on screen does not: then that stays. */
  private failsNow(trace: Trace): boolean {
    const fails = this.statusOf(trace) !== 'ok' && this.shown.trace?.status === 'ok'
    this.shown.failing = fails ? indexOf(trace) : null
    if (fails && this.draft.code === trace.program.code) this.draft.turning = false
    return fails
  }

  /** All of the page says what a run was, the view too where it is another one now. */
  private settle(shown: Shown, manner: 'new' | 'kept' | 'turned', change: Partial<ViewState>): void {
    const { trace, graph } = shown
    const { shown: run, view } = this
    const { selection } = view.state
    const before = run.trace
    const last = run.seen?.graph.boxes.length ? run.seen : run.stale // cut: an open question stays one
    const isEmpty = trace.failure != null && graph.boxes.length === 0
    run.stale = manner === 'new' && isEmpty && last && isEdit(last.trace, trace) ? last : null
    run.shown = shown
    run.failing = null
    clearTimeout(this.restTimer)
    if (manner === 'turned') {
      this.resting = () => this.rest(trace, before)
      this.restSoon()
      view.change({ run: trace.id, ...change })
      return
    }
    this.rest(trace, before, manner === 'kept')
    // A phone shows one view: with nothing to draw, the line that failed says more.
    if (isEmpty) view.phone = 'program'
    // Where the inspector has a place of its own, what went wrong is told without being asked; not over what the
    // address selects.
    const isAsked = manner === 'kept' && selection !== null
    const hasPlace = matchMedia('(min-width: 1280px), (max-width: 767px)').matches
    const isWrong = run.trace?.findings.some((finding) => finding.severity !== 'note')
    view.findingOpen = !isAsked && hasPlace && isWrong === true ? 0 : null
    view.change({ run: trace.id, ...change })
  }

  private restSoon(): void {
    clearTimeout(this.restTimer)
    this.restTimer = setTimeout(() => this.draft.held || this.resting(), REST_MS)
  }

  /** What can wait until the reader looks: the list of runs, where one that is seen again keeps its place, and what
   *  came of fixes. */
  private rest(trace: Trace, before: Trace | null, isSeen = false): void {
    void this.learnFixes(trace)
    const isListed = isSeen && this.shown.recent.some(({ id }) => id === trace.id)
    if (!isListed) this.list(trace, tellingLine(trace.program, before?.program ?? { code: '' }))
    this.draft.turning = false
    this.draft.keep()
  }

  /** How a run ended, which an open question keeps. */
  private statusOf(trace: Trace): Trace['status'] {
    return this.shown.endOf(trace) < trace.timeline.length ? 'ok' : trace.status
  }

  /** Keeps a run among the latest; `line` is what tells it from others. */
  private list(trace: Trace, line: Recent['line']): void {
    const status = this.statusOf(trace)
    const { lesson } = this.view.state
    this.shown.recent = keepRun(this.shown.recent, { id: trace.id, at: Date.now(), lesson, line, status })
  }

  /** Fetches the graph that is wanted now; the old picture stays until it is here. */
  async redraw(wanted: api.GraphChoice): Promise<void> {
    const trace = this.shown.whole
    this.graphAbort?.abort()
    if (!trace || this.isDrawn(wanted)) return
    const abort = (this.graphAbort = new AbortController())
    try {
      const graph = await this.graphs.of(trace.id, wanted, this.view.state.lang, abort.signal)
      if (abort.signal.aborted || this.shown.whole !== trace) return
      if (graph !== this.shown.shown?.graph) this.shown.shown = { trace, graph }
    } catch (error) {
      if (!abort.signal.aborted) this.problem = this.view.sentenceOf(error)
    }
  }

  /** Whether the picture on show is also that of another pass: one whose layers hang together with its own. */
  private isDrawn({ level, root, pass, alone }: api.GraphChoice): boolean {
    const { passes = [], level: shown } = this.shown.graph ?? {}
    return !alone && root === null && pass !== null && level === shown && passes.length > 1 && passes.includes(pass)
  }
}

/** Whether the cursor is in a program: what is typed or pasted next must not land in another one. */
function isWriting(): boolean {
  return document.activeElement?.closest('.cm-editor') != null
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
