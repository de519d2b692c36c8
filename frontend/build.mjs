// Builds everything the server serves into server/assets: the pages, then the bundle that the server runs itself.
import { build } from 'vite'
import {
  atOnce, fetchedBy, fewWords, laterAlone, minifiedAgain, minifiedFirst, minifiedSafely, noDeepState, noForks,
  noPreload, notAtOnce, noTransitions, SAID, SAID_WHILE_EDITING, stylesInside,
} from './lean.ts'

const forEmbeds = (said, minified = minifiedAgain) =>
  [laterAlone, noDeepState, noForks, noTransitions, noPreload, notAtOnce('late'), fewWords(said), minified]

// Of the page, what every run needs comes as one script and one style sheet, not as one for each of its parts and for
// what these share: sixty requests wait for each other longer than they take.
const RUN_PARTS = /\/(Choices|Dock|Inspector|Ledger|LessonText|Output|Overview|Player|Variables)\.svelte$/
const RUN_MODULES = /\/(drawn|aids|grips|strides|filling|layout|titles)\.ts$/
const together = {
  groups: [
    { name: 'page', tags: ['$initial'], priority: 2 },
    { name: 'run', test: (id) => RUN_PARTS.test(id) || RUN_MODULES.test(id), priority: 1 },
  ],
}

// What of Svelte only later parts of an embed use comes with those: the bundler would put it into the first script.
const LATE = /svelte\/src\/internal\/(client\/(reactivity\/(props|store)|dom\/(blocks\/(html|snippet)|css|elements\/(misc|style|bindings\/input)))\.js|.*\?late)$/
const apart = {
  groups: [
    { name: 'embed', tags: ['$initial'], priority: 1 },
    { name: 'late', test: LATE, includeDependenciesRecursively: false, priority: 2 },
  ],
}

// Each page by itself: pages built together share small chunks, which are more requests and do not compress as well.
// For the same reason their scripts do not await at the top: with that the bundler merges no chunks.
for (const page of ['index', 'embed', 'edit']) {
  const isEmbed = page !== 'index'
  await build({
    configFile: 'vite.config.ts',
    plugins: isEmbed
      ? page === 'edit' ? forEmbeds(SAID_WHILE_EDITING, minifiedSafely) : forEmbeds(SAID)
      : [fetchedBy('part', 'app/shell/part.ts'), minifiedFirst],
    build: {
      emptyOutDir: !isEmbed,
      modulePreload: isEmbed ? false : { polyfill: false },
      rolldownOptions: { input: { [page]: `${page}.html` }, output: { codeSplitting: isEmbed ? apart : together } },
    },
  })
}
await build({ configFile: 'vite.static.config.ts' })

// Single scripts, each whole: the players of a run that stands in its page, which load nothing, and what course pages
// load.
const whole = (format, file, entry) => ({
  emptyOutDir: false,
  lib: { entry, name: 'gradgraphEmbed', formats: [format], fileName: () => file, cssFileName: 'player' },
})
for (const [file, entry] of [['embed.mjs', 'player.ts'], ['embed-questions.mjs', 'player-questions.ts']]) {
  await build({
    configFile: 'vite.config.ts', plugins: [...forEmbeds(SAID), atOnce, stylesInside],
    build: whole('es', file, `src/embed/${entry}`),
  })
}
await build({
  configFile: 'vite.config.ts', plugins: [minifiedAgain], build: whole('iife', 'embed.js', 'src/embed/element.ts'),
})
