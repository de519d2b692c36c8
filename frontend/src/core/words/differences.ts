// What differs between two programs, line by line.

/** One line that goes or comes, split where it differs from its counterpart. */
export interface ChangedLine {
  kind: 'old' | 'new'
  /** Its number in the program it belongs to. */
  line: number
  head: string
  changed: string
  tail: string
}

const MOST_LINES = 400

/** The lines that differ: those that go, then those that come, place by place. */
export function changedLines(before: string, after: string): ChangedLine[] {
  const [old, next] = [before.split('\n'), after.split('\n')]
  let head = 0
  while (head < old.length && head < next.length && old[head] === next[head]) head += 1
  let tail = 0
  while (
    tail < old.length - head &&
    tail < next.length - head &&
    old[old.length - 1 - tail] === next[next.length - 1 - tail]
  )
    tail += 1
  const gone = old.slice(head, old.length - tail)
  const come = next.slice(head, next.length - tail)
  return stretches(gone, come).flatMap(({ from, to, of, until }) =>
    paired(gone.slice(from, to), come.slice(of, until), head + from + 1, head + of + 1),
  )
}

interface Stretch {
  from: number
  to: number
  of: number
  until: number
}

/** Where two lists differ, by their longest common subsequence; all of it when they are too long to compare. */
function stretches(old: readonly string[], next: readonly string[]): Stretch[] {
  const whole = [{ from: 0, to: old.length, of: 0, until: next.length }]
  if (old.length > MOST_LINES || next.length > MOST_LINES) return whole
  const width = next.length + 1
  const common = new Uint16Array((old.length + 1) * width)
  for (let a = old.length - 1; a >= 0; a -= 1) {
    for (let b = next.length - 1; b >= 0; b -= 1) {
      common[a * width + b] = old[a] === next[b]
        ? common[(a + 1) * width + b + 1]! + 1
        : Math.max(common[(a + 1) * width + b]!, common[a * width + b + 1]!)
    }
  }
  const found: Stretch[] = []
  let [a, b] = [0, 0]
  while (a < old.length || b < next.length) {
    const [from, of] = [a, b]
    while ((a < old.length || b < next.length) && !(a < old.length && b < next.length && old[a] === next[b])) {
      if (b >= next.length || (a < old.length && common[(a + 1) * width + b]! >= common[a * width + b + 1]!)) a += 1
      else b += 1
    }
    if (a > from || b > of) found.push({ from, to: a, of, until: b })
    a += 1
    b += 1
  }
  return found
}

/** Lines that go and come at one place; where as many go as come, each pair shows only what differs. */
function paired(gone: readonly string[], come: readonly string[], line: number, of: number): ChangedLine[] {
  const isPair = gone.length === come.length
  const split = (text: string, other: string | undefined): Pick<ChangedLine, 'head' | 'changed' | 'tail'> => {
    if (!isPair || other === undefined) return { head: '', changed: text, tail: '' }
    const [letters, others] = [[...text], [...other]]
    const most = Math.min(letters.length, others.length)
    let head = 0
    while (head < most && letters[head] === others[head]) head += 1
    let tail = 0
    while (tail < most - head && letters[letters.length - 1 - tail] === others[others.length - 1 - tail]) tail += 1
    const end = letters.length - tail
    return {
      head: letters.slice(0, head).join(''), changed: letters.slice(head, end).join(''),
      tail: letters.slice(end).join(''),
    }
  }
  return [
    ...gone.map((text, at): ChangedLine => ({ kind: 'old', line: line + at, ...split(text, come[at]) })),
    ...come.map((text, at): ChangedLine => ({ kind: 'new', line: of + at, ...split(text, gone[at]) })),
  ]
}
