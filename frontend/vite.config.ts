import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'
import { noAborts, noAsync, noBoundary, noEager, noHydration, noTrustedTypes } from './lean.ts'

// A page (playground or embed frame; build.mjs says which). `base` is the server's root; files under assets/ carry a
// content hash.
export default defineConfig({
  plugins: [
    svelte({ compilerOptions: { cssHash: ({ hash, css }) => `s${hash(css).slice(0, 4)}`, discloseVersion: false } }),
    noHydration,
    noAsync,
    noAborts,
    noBoundary,
    noEager,
    noTrustedTypes,
  ],
  build: { outDir: '../server/assets', target: 'es2022', modulePreload: { polyfill: false } },
  worker: { format: 'es' },
  server: { proxy: { '/api': process.env.GRADGRAPH_API ?? 'http://127.0.0.1:8000' } },
  resolve: process.env.VITEST ? { conditions: ['browser'] } : {},
  // Files share what they import: taking it in anew for each costs as much as all their tests.
  test: {
    environment: 'node', include: ['src/**/*.test.ts'], setupFiles: ['src/core/fixtures/settled.ts'],
    testTimeout: 20000, isolate: false, maxWorkers: '100%',
  },
} as import('vite').UserConfig)
