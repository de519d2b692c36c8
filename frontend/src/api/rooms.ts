// The routes of rooms, where a class answers together.

import type { Lang } from '../core/state'
import { ask, json } from './client'

/** How a room stands. */
export interface RoomState {
  run: string
  lesson: string | null
  /** The question that is asked, from 0; null before the first. */
  question: number | null
  /** Whether its answer is shown. */
  is_revealed: boolean
  /** Told to the teacher: who came in, and how often each answer was given. */
  learners?: number
  answers?: readonly (readonly [string, number])[]
  /** Told to a learner: their own answer to the question that is asked. */
  answer?: string
}

/** A room, and what makes this browser its teacher. */
export interface Opened {
  code: string
  token: string
}

const bodyOf = (value: unknown): RequestInit => ({
  headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(value),
})

function pathOf(code: string): string {
  return `/api/v1/rooms/${encodeURIComponent(code)}`
}

/** The page of a room. */
export function roomUrl(code: string): string {
  return `/r/${encodeURIComponent(code)}`
}

export function openRoom(run: string, lesson: string | null, lang: Lang): Promise<Opened> {
  return json('/api/v1/rooms', lang, { method: 'POST', ...bodyOf({ run, lesson }) })
}

export function roomState(code: string, lang: Lang): Promise<RoomState> {
  return json(pathOf(code), lang)
}

export async function askQuestion(
  { code, token }: Opened, question: number, shows: boolean, lang: Lang,
): Promise<void> {
  const { headers, body } = bodyOf({ question, is_revealed: shows })
  await ask(`${pathOf(code)}/question`, { method: 'PUT', headers: { ...headers, 'Owner-Token': token }, body }, lang)
}

export async function giveAnswer(code: string, question: number, answer: string, lang: Lang): Promise<void> {
  await ask(`${pathOf(code)}/answer`, { method: 'PUT', ...bodyOf({ question, answer }) }, lang)
}

export async function closeRoom({ code, token }: Opened, lang: Lang): Promise<void> {
  await ask(pathOf(code), { method: 'DELETE', headers: { 'Owner-Token': token } }, lang)
}

/** How a room stands, again each time that changes; null once it is closed. Ends where the line breaks. */
export async function* roomEvents(code: string, token: string | null, lang: Lang): AsyncGenerator<RoomState | null> {
  // An EventSource could send no token but in the address, where others read it.
  const headers: HeadersInit = token === null ? {} : { 'Owner-Token': token }
  const answer = await ask(`${pathOf(code)}/events`, { headers }, lang)
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const words = (rest + value).split('\n\n')
    rest = words.pop()!
    for (const word of words) {
      const [, kind, data] = /^event: (\w+)\ndata: (.*)$/.exec(word) ?? []
      if (data) yield kind === 'closed' ? null : JSON.parse(data) as RoomState
    }
  }
}
