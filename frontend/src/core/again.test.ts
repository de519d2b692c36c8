import { afterEach, expect, test, vi } from 'vitest'
import { again } from './again'

afterEach(() => vi.useRealTimers())

/** What comes of a part that fails so many times, and how often it was asked for. */
async function asked(failing: number): Promise<[string, number]> {
  vi.useFakeTimers()
  let times = 0
  const load = () => (++times > failing ? Promise.resolve('there') : Promise.reject(new Error('not there')))
  const told = again(load).catch((error: Error) => error.message)
  await vi.runAllTimersAsync()
  return [await told, times]
}

test('what is there is asked for once', async () => expect(await asked(0)).toEqual(['there', 1]))

test('what a network failed to bring is asked for again', async () => expect(await asked(3)).toEqual(['there', 4]))

test('what does not come in the end is said', async () => expect(await asked(9)).toEqual(['not there', 4]))
