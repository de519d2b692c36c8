// What our pages do not use of Svelte and Vite, left out of what they load.

import { readFileSync } from 'node:fs'
import { minify } from 'terser'
import type { Plugin, Rolldown } from 'vite'

/** Code for taking over HTML that a server rendered: it can only be left out when nothing seems to switch it on. */
export const noHydration = without('no-hydration', {
  'dom/hydration': [['export let hydrating = false', 'export const hydrating = false'], ['hydrating = value', '']],
  'dom/blocks/html': [[/if \(hydrating\)/g, 'if (false)']],
})

/** Waiting for promises while a component is drawn, an experiment of Svelte's that has to be asked for, and values that
 *  differ until the promise has come. */
export const noAsync = without('no-async', {
  'reactivity/async': [['if (async.length === 0 && pending.length === 0) {', 'if (true) {']],
  'reactivity/batch': [
    ['export let batch_values = null', 'export const batch_values = null'],
    [/\tbatch_values = [^;]+;/g, ''],
  ],
})

/** Effects that run while something changes, before what follows from it: nothing of ours asks for one. */
export const noEager = without('no-eager', {
  'reactivity/sources': [
    ['eager_effects.size > 0', 'false'],
    ['(flags & EAGER_EFFECT) !== 0', 'false'],
    ['export let eager_effects = new Set()', 'export let eager_effects = /* @__PURE__ */ new Set()'],
    [' || (active_reaction.f & EAGER_EFFECT) !== 0', ''],
  ],
})

/** Signals that tell work that it is no longer wanted: nothing of ours asks for one. */
export const noAborts = without('no-aborts', {
  'reactivity/batch': [['effect.ac === null', 'true']],
  'reactivity/effects': [['const controller = effect.ac', 'const controller = null']],
  'reactivity/deriveds': [['e.teardown || e.ac', 'e.teardown'], ['e.ac !== null', 'false']],
  runtime: [['reaction.ac !== null', 'false'], ['derived.ac !== null', 'false']],
  constants: [['STALE_REACTION = new', 'STALE_REACTION = /* @__PURE__ */ new']],
})

/** A policy for pages whose own one asks for trusted types: ours does not. */
export const noTrustedTypes = without('no-trusted-types', {
  'dom/reconciler': [['policy?.createHTML(html) ?? html', 'html'], [/const policy =[^]*?\n\t\}\);\n/, '']],
})

/** The boundary around what is mounted, which waits and catches errors: nothing of ours says what to show then. */
export const noBoundary = without('no-boundary', {
  render: [
    [
      "import { boundary } from './dom/blocks/boundary.js'",
      'const boundary = (place, _, draw) => branch(() => draw(place))',
    ],
    ['import { component_root', 'import { branch, component_root'],
  ],
  'reactivity/batch': [['effect.b?.is_pending', 'false']],
  'error-handling': [['(effect.f & BOUNDARY_EFFECT) !== 0', 'false']],
})

/** Parts of a page that come and go slowly: those of an embed come and go at once. */
export const noTransitions: Plugin = {
  name: 'no-transitions',
  apply: 'build',
  transform: {
    filter: { id: /svelte\/src\/internal\/client\/(reactivity\/effects|dom\/blocks\/(each|branches))\.js$/ },
    handler(code: string, id: string) {
      if (id.endsWith('branches.js')) return plain(ended(code, 'export class BranchManager {', BRANCHES))
      if (id.endsWith('each.js')) return plain(EACH.reduce((left, [from, to]) => swapped(left, from, to), code))
      const paused = swapped(code, PAUSE, `${PAUSE} if (destroy) destroy_effect(effect); callback?.(); return;`)
      return plain(swapped(paused, RESUME, `${RESUME} return;`))
    },
  },
}

/** What is drawn ahead, or beside what waits: in an embed each change is drawn before the next. */
export const noForks = without('no-forks', {
  'reactivity/batch': [
    ['if (!this.#is_deferred()) this.discard()', 'this.#unlink()'],
    ['if (this.#is_deferred())', 'if (false)'],
    ['this.#find_earlier_batch()', 'null'],
    [' || this.#skipped_branches.has(effect)', ''],
    ['this.#deferred?.resolve()', ''],
    ['if (this.#pending === 0 && ', 'if ('],
    ['capture(source, value, is_derived = false) {', 'capture(source, value) { source.v = value; return;'],
    [/\t(for \(const fn of )?this\.#(commit_callbacks|new_effects)\b.*;/g, ''],
    [/\t(is_fork|current|previous|async_deriveds) = .*;/g, ''],
    ...[
      'skip_effect', 'unskip_effect', 'discard', 'increment', 'decrement', 'transfer_reactions', 'oncommit', 'ondiscard',
      'settled', 'register_created_effect', 'activate', 'deactivate', 'apply',
    ].map(methodOf),
    ['this.apply();', ''],
  ],
  'reactivity/effects': [['current_batch?.register_created_effect(effect)', '']],
  'reactivity/deriveds': [[/current_batch\?\.is_fork/g, 'false']],
  'reactivity/sources': [['!batch.is_fork && ', '']],
  runtime: [['current_batch?.is_fork', 'false']],
})

/** What of a module only later parts of an embed use, as a module of its own that comes with those. */
export const laterAlone = without('later-alone', {
  'dom/elements/style': [['shared/attributes.js', 'shared/attributes.js?late']],
  'dom/elements/bindings/input': [['./shared.js', './shared.js?late']],
})

/** State that is written into, not replaced: an embed has none. Where it is given some it says so at once. */
export const noDeepState = without('no-deep-state', {
  proxy: [[
    'export function proxy(value) {',
    `export function proxy(value) {
      if (Array.isArray(value) || value?.constructor === Object) throw new Error('use $state.raw');
      return value;`,
  ]],
})

/** Chunks are fetched by a module of ours, again where the network fails; Vite's does it once. */
export const fetchedBy = (name: string, module: string): Plugin => ({
  name: 'fetched-by',
  enforce: 'post',
  transform: {
    filter: { id: /vite\/preload-helper/ },
    handler: () => plain(`export { ${name} as __vitePreload } from '${import.meta.dirname}/src/${module}'`),
  },
})

/** Nothing loads styles and further scripts of a chunk ahead of it: the chunks of an embed have none. */
export const noPreload: Plugin = {
  ...fetchedBy('again', 'core/again.ts'),
  generateBundle(_, bundle) {
    if (Object.keys(bundle).filter((file) => file.endsWith('.css')).length > 1)
      this.error('a chunk that is loaded later has styles')
  },
}

/** What a chunk holds does nothing as it loads: a script that uses none of it would still ask for it at once, to keep
 *  the order of things. */
export const notAtOnce = (chunk: string): Plugin => ({
  name: 'not-at-once',
  generateBundle(_, bundle) {
    const asked = new RegExp(`\\bimport\\s*"\\./${chunk}-[\\w-]+\\.js";`)
    for (const part of Object.values(bundle)) if (part.type === 'chunk') part.code = part.code.replace(asked, '')
  },
})

/** Of the words those an embed says, and one that can be edited says more; a script that names another is refused. */
export const fewWords = (said: RegExp): Plugin => ({
  name: 'few-words',
  enforce: 'pre',
  transform: {
    filter: { id: /\/words\/(findings\/)?(en|zh)\.json$/ },
    handler: (code: string) =>
      plain(JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(code)).filter(([key]) => said.test(key))))),
  },
  generateBundle(_, bundle) {
    const all = JSON.parse(readFileSync(new URL('words/en.json', import.meta.url), 'utf8')) as Record<string, string>
    for (const part of Object.values(bundle)) {
      if (part.type !== 'chunk') continue
      for (const [, key] of part.code.matchAll(/[`'"](\w+(?:\.\w+)+)[`'"]/g))
        if (key! in all && !said.test(key!)) this.error(`embeds have no word for ${key}`)
    }
  },
})

/** Of a finding an embed says the title: that of an error stands on its box. */
export const SAID = new RegExp([
  /^finding\..*\.title$/, /^(mark|pass|step)\./,
  /^embed\.(?!(edited|editor|restore|run|stop)$)/, /^problem\.(?!empty$)/,
  /^graph\.(?!(gradient_norm|minimap|values_legend|constant|no_gradient|now|forward|shared|reason.integer|seed)$)/,
  /^player\.(back|forward|pause|play|slider|step)$/, /^panel\.(program|graph|findings)$/,
].map(({ source }) => source).join('|'))
export const SAID_WHILE_EDITING = new RegExp(`${SAID.source}|^embed\\.|^state\\.(at|running|waiting)$`)

/** The style sheet as a text of the one script, in the place of `__STYLES__`: what holds it loads nothing. */
export const stylesInside: Plugin = {
  name: 'styles-inside',
  apply: 'build',
  enforce: 'post',
  generateBundle(_, bundle) {
    const sheets = Object.values(bundle).filter((part) => part.type === 'asset' && part.fileName.endsWith('.css'))
    const text = sheets.map((sheet) => String('source' in sheet && sheet.source).trim()).join('')
    for (const part of Object.values(bundle))
      if (part.type === 'chunk') part.code = part.code.replace('__STYLES__', () => JSON.stringify(text))
    for (const sheet of sheets) delete bundle[sheet.fileName]
  },
}

/** What is loaded later comes at once: in a single script the bundler would wrap each such module, and all it needs. */
export const atOnce: Plugin = {
  name: 'at-once',
  enforce: 'post',
  transform: {
    filter: { code: /\bimport\(['"]\./ },
    handler(code: string) {
      const paths: string[] = []
      const body = code.replace(
        /\bimport\((['"]\.[^'"]+['"])\)/g,
        (_, path: string) => `Promise.resolve(later${paths.push(path)})`,
      )
      return plain(`${paths.map((path, at) => `import * as later${at + 1} from ${path}`).join('\n')}\n${body}`)
    },
  },
}

/** What the bundler has minified, again by Terser, which finds more: a hundredth. No function of ours is called by
 *  `new`, so that all may be arrows; nobody asks how many arguments one takes, built-in objects are as the language
 *  has them, and no Symbol becomes text. */
export const minifiedAgain = minifying('minified-again', () => true, true)
/** The same of what a page waits for before it can be used. */
export const minifiedFirst = minifying('minified-first', ({ isEntry }) => isEntry, true)
/** The same with an editor in it: Terser's `unsafe` (5.51) takes an array that is filled as `(even ? a : b).push(x)`
 *  for empty, and the editor then looks for the end of any letter beyond Latin for ever. */
export const minifiedSafely = minifying('minified-safely', () => true, false)

function minifying(name: string, isMeant: (part: Rolldown.OutputChunk) => boolean, unsafe: boolean): Plugin {
  return {
    name,
    apply: 'build',
    async generateBundle(_, bundle) {
      for (const part of Object.values(bundle)) {
        if (part.type !== 'chunk' || !isMeant(part)) continue
        part.code = (await minify(part.code, small(unsafe))).code ?? part.code
      }
    },
  }
}

const small = (unsafe: boolean) => ({
  module: true,
  ecma: 2020,
  compress: { passes: 5, keep_fargs: false, unsafe, unsafe_arrows: true, unsafe_symbols: true },
}) as const

/** A module of Svelte's client, and what stands there, for what is to. */
type Changes = Record<string, (readonly [from: string | RegExp, to: string])[]>

function without(name: string, changes: Changes): Plugin {
  const inside = 'svelte/src/internal/client/'
  return {
    name,
    apply: 'build',
    transform: {
      filter: { id: new RegExp(`${inside}(${Object.keys(changes).join('|')})\\.js$`) },
      handler(code: string, id: string) {
        const module = id.slice(id.indexOf(inside) + inside.length, -'.js'.length)
        return plain(changes[module]!.reduce((left, [from, to]) => swapped(left, from, to), code))
      },
    },
  }
}

/** A method of Svelte's classes, whose lines begin with tabs. */
function methodOf(name: string): [RegExp, string] {
  return [new RegExp(`\\n\\t${name}\\([^]*?\\n\\t\\}\\n`), '']
}

/** Items of an `{#each}` leave at once, and none waits for another drawing. */
const EACH: [string | RegExp, string][] = [
  ['(flags & EACH_IS_ANIMATED) !== 0', 'false'], [/state\.outrogroups !== null/g, 'false'],
  ['state.pending.size > 0', 'false'], ['state.pending.size === 0', 'true'], ['remaining === 0', 'true'],
  [/(state\.)?pending\.(set|delete)\(batch.*/g, ''],
]
const PAUSE = 'export function pause_effect(effect, callback, destroy = true) {'
const RESUME = 'export function resume_effect(effect) {'
/** What of an `{#if}` is there, for the key of that part. */
const BRANCHES = `export class BranchManager {
  constructor(anchor) { this.anchor = anchor; this.key = this }
  ensure(key, fn) {
    if (key === this.key) return
    const last = this.shown
    this.key = key
    this.shown = fn && branch(() => fn(this.anchor))
    if (last) destroy_effect(last)
  }
}`

/** Text of a version of Svelte that reads differently is not passed over. */
function swapped(code: string, from: string | RegExp, to: string): string {
  const isThere = typeof from === 'string' ? code.includes(from) : code.search(from) >= 0
  if (!isThere) throw new Error(`no longer in Svelte: ${from}`)
  return code.replace(from, to)
}

/** From a line on other code. */
function ended(code: string, line: string, end: string): string {
  return swapped(code, code.slice(code.indexOf(line)), end)
}

function plain(code: string) {
  return { code, map: null }
}
