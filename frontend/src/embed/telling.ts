// What an embed needs besides where its address asks for the words of a lesson: fetched for such embeds alone.

import type { Lesson } from '../api/client'
import type { Graph, Trace } from '../api/types'
import LessonWords from '../app/elements/LessonWords.svelte'
import type { Lang } from '../core/state'
import { boxFinder } from '../core/trace/naming'
import { pointed, type Pointed } from '../core/trace/pointing'
import { writtenFor, type Written } from '../core/trace/questions'
import { indexOf, linesOfGraph } from '../core/trace/trace-index'

export class Telling {
  readonly Words = LessonWords

  constructor(readonly lesson: Lesson) {}

  /** What it says of the questions of a run. */
  written(trace: Trace, lang: Lang): readonly Written[] {
    return writtenFor(trace, this.lesson.code, this.lesson[lang].questions)
  }

  /** What a phrase speaks of. */
  pointed(at: string, trace: Trace, graph: Graph): Pointed | null {
    const index = indexOf(trace)
    return pointed(at, index, boxFinder(graph, index), linesOfGraph(graph))
  }
}
