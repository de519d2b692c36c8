// Opens the page of a room on the run that it is about.

import { Room } from '../state/room.svelte'
import type { Playground } from '../state/playground'

export async function enterRoom(code: string, { view, questions }: Playground): Promise<void> {
  const room = new Room(code, view)
  if (!(await room.find())) return location.reload() // its page says so
  const { run, lesson } = room.state
  view.change(run === view.state.run ? { lesson } : { run, lesson, step: 0 })
  questions.turn(true)
  questions.room = room
  void room.follow()
}
