// Says which records, equations and evidence the page shows: a line of JSON in for each trace, a line of JSON out.

import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [frontend] = process.argv.slice(2)
const { rolldown } = await import(pathToFileURL(createRequire(`${frontend}/package.json`).resolve('rolldown')).href)
const bundle = await rolldown({ input: new URL('numbers.ts', import.meta.url).pathname })
const { output } = await bundle.generate({ format: 'esm' })
const { equationsOf, evidenceShown, numbersOf } = await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`)

for await (const line of createInterface({ input: process.stdin })) {
  const { trace, questions, rules } = JSON.parse(line)
  const answer = { numbers: numbersOf(trace, questions), equations: equationsOf(trace, rules), evidence: evidenceShown(trace) }
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
