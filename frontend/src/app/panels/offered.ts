// Which panels have something to show of a run.

import type { Trace } from '../../api/types'
import type { Panel } from '../../core/state'

const has: Record<Panel, (trace: Trace) => boolean> = {
  ledger: (trace) => trace.passes.some((pass) => pass.accumulations.length > 0),
  memory: (trace) => trace.memory.length > 1,
  training: (trace) => (trace.curve ?? []).length > 1 || trace.updates.some((update) => update.kind === 'step'),
  engine: (trace) => trace.passes.some((pass) => pass.visits.length > 0),
  storage: (trace) => (trace.storages ?? []).length > 0,
  checks: (trace) => trace.passes.some((pass) => pass.visits.length > 0),
  jacobian: (trace) => trace.passes.some((pass) => pass.visits.length > 0),
  compare: () => true,
  text: (trace) => trace.timeline.length > 0,
  calls: (trace) => /^\s*(async def|def|class)\s|\blambda\b/m.test(trace.program.code),
}

export function offered(trace: Trace, panel: Panel): boolean {
  return has[panel](trace)
}
