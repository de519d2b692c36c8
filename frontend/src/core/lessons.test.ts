import { expect, test } from 'vitest'
import { firstSentence, groupOf, inGroups } from './lessons'

const texts = import.meta.glob<string>('../../../gallery/*.toml', { eager: true, query: '?raw', import: 'default' })

test('lessons stand group by group and keep their order within one', () => {
  const lessons = [['errors'], ['basics', 'a'], ['advanced'], ['basics', 'b']].map((tags) => ({ tags }))
  expect(inGroups(lessons).map(({ tags }) => tags.join())).toEqual(['basics,a', 'basics,b', 'advanced', 'errors'])
})

test('a first sentence ends where a sentence ends, not in a number', () => {
  expect(firstSentence('At x = 1.5 it is 2. Then more.')).toBe('At x = 1.5 it is 2.')
  expect(firstSentence('先算 1.5。再加。')).toBe('先算 1.5。')
  expect(firstSentence('no end')).toBe('no end')
})

test.each(Object.entries(texts))('%s is in a group that was meant', (_, text) => {
  const tags = /tags = \[(.*)\]/.exec(text)![1]!.match(/[\w-]+/g)!
  expect(groupOf({ tags }) !== 'advanced' || ['advanced', 'engine'].includes(tags[0]!)).toBe(true)
})
