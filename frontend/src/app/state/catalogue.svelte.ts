// What the server offers besides runs: lessons, devices, written rules.

import * as api from '../../api/client'
import type { Rule } from '../../core/rules'
import type { PageView } from './view.svelte'

export class Catalogue {
  private readonly view: PageView
  lessons: api.Lesson[] = $state.raw([])
  lessonsMissing = $state(false)
  health: api.Health | null = $state.raw(null)
  rules: ReadonlyMap<string, Rule> = $state.raw(new Map())
  readonly lesson: api.Lesson | null = $derived.by(() => this.named(this.view.state.lesson))

  constructor(view: PageView) {
    this.view = view
  }

  /** Looked up anew, where a handler needs what the view says now: what Svelte derives may be a change behind there. */
  named(name: string | null): api.Lesson | null {
    return this.lessons.find((lesson) => lesson.name === name) ?? null
  }

  async fetch(): Promise<void> {
    const { lang } = this.view.state
    await Promise.all([
      this.fetchLessons(),
      api.health(lang).then(
        (health) => (this.health = health),
        () => undefined, // without it, only CUDA is not offered
      ),
      api.rules(lang).then(
        (rules) => (this.rules = new Map(rules.map((rule) => [rule.id, rule]))),
        () => undefined, // without them, the inspector says there is no written rule
      ),
    ])
  }

  async fetchLessons(): Promise<void> {
    if (this.lessons.length > 0) return
    try {
      this.lessons = await api.gallery(this.view.state.lang)
      this.lessonsMissing = false
    } catch {
      this.lessonsMissing = true
    }
  }
}
