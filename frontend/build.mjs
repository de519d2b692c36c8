// Builds everything the server serves into server/assets: the pages, then the bundle that the server runs itself.
import { build } from 'vite'
import { fewWords, minifiedAgain, noDeepState, noPreload } from './lean.ts'

// Each page by itself: pages built together share small chunks, which are more requests and do not compress as well.
// For the same reason their scripts do not await at the top: with that the bundler merges no chunks.
for (const page of ['index', 'embed']) {
  const isEmbed = page === 'embed'
  await build({
    configFile: 'vite.config.ts',
    plugins: isEmbed ? [noDeepState, noPreload, fewWords, minifiedAgain] : [],
    build: { emptyOutDir: !isEmbed, rolldownOptions: { input: { [page]: `${page}.html` } } },
  })
}
await build({ configFile: 'vite.static.config.ts' })
