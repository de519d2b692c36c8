// Builds everything the server serves into server/assets: the pages, then the static-SVG bundle.
import { build } from 'vite'

await build({ configFile: 'vite.config.ts' })
await build({ configFile: 'vite.static.config.ts' })
