// A program's questions on paper, and their answers on a page of their own.

import type { Trace } from '../../api/types'
import { answerOf, askedAs, reasonOf, type Written } from '../../core/trace/answers'
import { askable } from '../../core/trace/questions'
import type { Lang } from '../../core/state'
import type { Words } from '../../core/words/sentences'

const STYLES = `body{font:12pt/1.5 system-ui,sans-serif;margin:0}
pre{font:10pt/1.45 ui-monospace,monospace;white-space:pre-wrap}
li{margin:0 0 1.2em;break-inside:avoid}.room{border-bottom:1px solid;height:2.2em}.choice{margin-right:1.6em}
.answers{break-before:page}code{font-family:ui-monospace,monospace}`

export interface Sheet {
  trace: Trace
  title: string
  /** A lesson's own words for its questions. */
  written: readonly Written[]
  lang: Lang
  t: Words
}

/** The sheet: title, program and questions; then, on another page, the answers with their reasons. */
export function sheetOf({ trace, title, written, lang, t }: Sheet): HTMLElement[] {
  const all = askable(trace)
  const questions = all.map((question) => {
    const ask = askedAs(trace, question, written, t)
    const choices = (question.choices ?? []).map((choice) => element('span', `☐ ${choice}`, 'choice'))
    return listed(element('p', ask), ...(choices.length > 0 ? choices : [element('div', '', 'room')]))
  })
  const answers = all.map((question) => {
    const why = reasonOf(trace, question, written, lang)
    return listed(element('code', `${question.text} = ${answerOf(question)}`), element('p', why))
  })
  return [
    element('h1', title), element('pre', listing(trace.program.code)), list(questions),
    element('h1', `${title}: ${t('question.answers')}`, 'answers'), list(answers),
  ]
}

/** Prints it from a frame that nobody sees. */
export function printSheet(sheet: Sheet): void {
  const frame = document.createElement('iframe')
  frame.style.cssText = 'position:fixed;width:0;height:0;border:0'
  document.body.append(frame)
  const { contentDocument: page, contentWindow: view } = frame
  if (!page || !view) return
  page.documentElement.lang = sheet.lang
  page.title = sheet.title
  page.head.append(Object.assign(page.createElement('style'), { textContent: STYLES }))
  page.body.append(...sheetOf(sheet))
  view.addEventListener('afterprint', () => frame.remove())
  view.print()
}

/** The program with its lines' numbers, without the reasons that are told after an answer. */
function listing(code: string): string {
  const lines = code.trimEnd().split('\n')
  const digits = String(lines.length).length
  return lines.map((line, at) => `${String(at + 1).padStart(digits)}  ${line.replace(/#\s*[!！].*/, '')}`).join('\n')
}

function list(items: readonly HTMLElement[]): HTMLElement {
  const made = document.createElement('ol')
  made.append(...items)
  return made
}

function listed(...parts: readonly HTMLElement[]): HTMLElement {
  const made = document.createElement('li')
  made.append(...parts)
  return made
}

function element(tag: 'code' | 'div' | 'h1' | 'p' | 'pre' | 'span', text: string, className = ''): HTMLElement {
  return Object.assign(document.createElement(tag), { textContent: text, className })
}
