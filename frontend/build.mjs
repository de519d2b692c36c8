// Builds everything the server serves into server/assets: the pages, then the bundle that the server runs itself.
import { build } from 'vite'
import { atOnce, fewWords, minifiedAgain, noDeepState, noPreload } from './lean.ts'

const forEmbeds = [noDeepState, noPreload, fewWords, minifiedAgain]

// Each page by itself: pages built together share small chunks, which are more requests and do not compress as well.
// For the same reason their scripts do not await at the top: with that the bundler merges no chunks.
for (const page of ['index', 'embed']) {
  const isEmbed = page === 'embed'
  await build({
    configFile: 'vite.config.ts',
    plugins: isEmbed ? forEmbeds : [],
    build: { emptyOutDir: !isEmbed, rolldownOptions: { input: { [page]: `${page}.html` } } },
  })
}
await build({ configFile: 'vite.static.config.ts' })

// The parts of a file that holds its run, each whole and classic: such a file loads nothing.
const whole = (name, entry) => ({
  emptyOutDir: false,
  lib: { entry, name: 'gradgraphInline', formats: ['iife'], fileName: () => `${name}.js`, cssFileName: name },
})
await build({
  configFile: 'vite.config.ts', plugins: [...forEmbeds, atOnce], build: whole('standalone', 'src/embed/standalone.ts'),
})
await build({ configFile: 'vite.config.ts', plugins: [minifiedAgain], build: whole('place', 'src/embed/place.ts') })
// What course pages load.
await build({ configFile: 'vite.config.ts', plugins: [minifiedAgain], build: whole('embed', 'src/embed/element.ts') })
