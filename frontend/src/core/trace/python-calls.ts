// Calls of the program's own functions as moments: entered, a statement begun, what it assigned, left.

import type { Assigned, PythonCall, Statement } from '../../api/types'

export type Happening =
  | { kind: 'enter'; at: number; call: PythonCall }
  | { kind: 'leave'; at: number; call: PythonCall }
  | { kind: 'begin'; at: number; call: PythonCall; statement: Statement }
  | { kind: 'assign'; at: number; call: PythonCall; statement: Statement }

/** Everything that happened, in order; a statement that assigned nothing has no moment of its own at its end. */
export function happenings(calls: readonly PythonCall[]): Happening[] {
  const all: Happening[] = []
  for (const call of calls) {
    all.push({ kind: 'enter', at: call.at, call })
    if (call.left) all.push({ kind: 'leave', at: call.left, call })
    for (const statement of call.statements ?? []) {
      all.push({ kind: 'begin', at: statement.at, call, statement })
      if (statement.done && (statement.assigned ?? []).length > 0)
        all.push({ kind: 'assign', at: statement.done, call, statement })
    }
  }
  return all.sort((a, b) => a.at - b.at)
}

export interface Row {
  call: PythonCall
  depth: number
}

/** The calls as an indented list, in the order of entering. */
export function rowsOf(calls: readonly PythonCall[]): Row[] {
  const depth = new Map<string, number>()
  return calls.map((call) => {
    const deep = call.parent == null ? 0 : (depth.get(call.parent) ?? -1) + 1
    depth.set(call.id, deep)
    return { call, depth: deep }
  })
}

/** The calls that have begun and not ended at a moment, outermost first. */
export function stackAt(calls: readonly PythonCall[], at: number): PythonCall[] {
  return calls.filter((call) => call.at <= at && (!call.left || call.left > at))
}

export interface Held extends Assigned {
  /** The line that gave it this value; 0 for a parameter. */
  line: number
  /** The latest thing that happened. */
  fresh: boolean
}

/** What a call's names and attributes were given so far; the latest value of each. */
export function heldAt(call: PythonCall, at: number): Held[] {
  const held = new Map<string, Held>(
    (call.arguments ?? []).map((argument) => [argument.target, { ...argument, line: 0, fresh: call.at === at }]),
  )
  for (const statement of call.statements ?? []) {
    if (!statement.done || statement.done > at) continue
    for (const assigned of statement.assigned ?? []) {
      held.delete(assigned.target)
      held.set(assigned.target, { ...assigned, line: statement.line, fresh: statement.done === at })
    }
  }
  return [...held.values()]
}

/** The line a call is at: that of the statement begun last, or where the function begins. */
export function lineAt(call: PythonCall, at: number): number {
  return (call.statements ?? []).findLast((statement) => statement.at <= at)?.line ?? call.line
}
