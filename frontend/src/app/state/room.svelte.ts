// A room as this page has heard: its teacher's side where this tab opened it, else a learner's.

import { Problem } from '../../api/client'
import * as api from '../../api/rooms'
import type { Lang } from '../../core/state'

const AGAIN_MS = 1000
const OPENED = 'gradgraph.room'
const FULL = 409
const GONE = 404

const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, AGAIN_MS))

/** Makes this tab the teacher of a room, and goes there. */
export function teach(opened: api.Opened, lang: Lang): void {
  sessionStorage.setItem(OPENED, JSON.stringify(opened))
  location.assign(`${api.roomUrl(opened.code)}#lang=${lang}`)
}

function tokenOf(code: string): string | null {
  const opened = JSON.parse(sessionStorage.getItem(OPENED) ?? 'null') as api.Opened | null
  return opened?.code === code ? opened.token : null
}

/** How the page speaks to its reader. */
interface Voice {
  readonly state: { readonly lang: Lang }
  sentenceOf: (error: unknown) => string
}

export class Room {
  readonly code: string
  private readonly token: string | null
  private readonly view: Voice
  state: api.RoomState = $state.raw({ run: '', lesson: null, question: null, is_revealed: false })
  /** What this learner answered to the question that is asked. */
  given: string | null = $state(null)
  isClosed = $state(false)
  /** What is in the way. */
  problem = $state('')

  constructor(code: string, view: Voice) {
    this.code = code.toUpperCase()
    this.token = tokenOf(this.code)
    this.view = view
  }

  get isTeachers(): boolean {
    return this.token !== null
  }

  /** Learns how it stands; false where there is no such room. */
  async find(): Promise<boolean> {
    for (;;) {
      try {
        this.state = await api.roomState(this.code, this.view.state.lang)
        return true
      } catch (error) {
        if (error instanceof Problem && error.status === GONE) return false
        await later()
      }
    }
  }

  /** Listens until it is closed, again where the line breaks. */
  async follow(): Promise<void> {
    while (!this.isClosed) {
      try {
        for await (const state of api.roomEvents(this.code, this.token, this.view.state.lang)) {
          this.problem = ''
          this.hear(state)
        }
      } catch (error) {
        const status = error instanceof Problem ? error.status : 0
        if (status === GONE) this.hear(null)
        else this.problem = this.view.sentenceOf(error)
        if (status === FULL) return
      }
      await later()
    }
  }

  private hear(state: api.RoomState | null): void {
    if (state === null) {
      this.isClosed = true
      return
    }
    const { question, is_revealed } = this.state
    if (state.question !== question || (is_revealed && !state.is_revealed)) this.given = null
    this.given = state.answer ?? this.given
    this.state = state
  }

  answer(given: string): Promise<void> {
    return this.attempt(async (lang) => {
      await api.giveAnswer(this.code, this.state.question!, given, lang)
      this.given = given
    })
  }

  /** Has the class asked a question, or shows it the answer. */
  ask(question: number, shows = false): Promise<void> {
    return this.attempt((lang) => api.askQuestion(this.opened, question, shows, lang))
  }

  close(): Promise<void> {
    return this.attempt((lang) => api.closeRoom(this.opened, lang))
  }

  private get opened(): api.Opened {
    return { code: this.code, token: this.token ?? '' }
  }

  private async attempt(work: (lang: Lang) => Promise<void>): Promise<void> {
    this.problem = ''
    try {
      await work(this.view.state.lang)
    } catch (error) {
      this.problem = this.view.sentenceOf(error)
    }
  }
}
