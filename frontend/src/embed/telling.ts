// What an embed needs besides where its address asks for the words of a lesson: fetched for such embeds alone.

import { lesson, type Lesson } from '../api/client'
import type { Trace } from '../api/types'
import type { Lang } from '../core/state'
import { writtenFor, type Written } from '../core/trace/answers'
import LessonTold from './LessonTold.svelte'

export class Telling {
  readonly Told = LessonTold

  constructor(readonly lesson: Lesson) {}

  /** What it says of the questions of a run. */
  written(trace: Trace, lang: Lang): readonly Written[] {
    return writtenFor(trace, this.lesson.code, this.lesson[lang].questions)
  }
}

export async function telling(name: string, lang: Lang): Promise<Telling> {
  return new Telling(await lesson(name, lang))
}
