// The lessons as a menu offers them: in groups, each with its first sentence.

interface Tagged {
  tags: readonly string[]
}

/** Groups in their order, by the tag a lesson comes under first. */
const GROUPS = {
  basics: ['basics'],
  tensors: ['tensors', 'indexing', 'pitfalls', 'dynamic', 'views', 'storage'],
  training: ['training', 'module'],
  models: ['models', 'memory'],
  advanced: ['advanced', 'engine'],
  errors: ['errors'],
} as const

export type LessonGroup = keyof typeof GROUPS
const ORDER = Object.keys(GROUPS) as LessonGroup[]

export function groupOf({ tags: [first = ''] }: Tagged): LessonGroup {
  return ORDER.find((group) => (GROUPS[group] as readonly string[]).includes(first)) ?? 'advanced'
}

/** Lessons group by group; within one they keep their order. */
export function inGroups<Lesson extends Tagged>(lessons: readonly Lesson[]): Lesson[] {
  return [...lessons].sort((a, b) => ORDER.indexOf(groupOf(a)) - ORDER.indexOf(groupOf(b)))
}

export function firstSentence(text: string): string {
  return /^.+?(?:。|[.!?](?=\s+[A-Z“]|$))/su.exec(text)?.[0] ?? text
}
