import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'

// The two pages (playground and embed frame). `base` is the server's root; files under assets/ carry a content hash.
export default defineConfig({
  plugins: [svelte()],
  build: {
    outDir: '../server/assets',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    rollupOptions: { input: { index: 'index.html', embed: 'embed.html' } },
  },
  worker: { format: 'es' },
  server: { proxy: { '/api': process.env.GRADGRAPH_API ?? 'http://127.0.0.1:8000' } },
  resolve: process.env.VITEST ? { conditions: ['browser'] } : {},
  test: { environment: 'happy-dom', include: ['src/**/*.test.ts'], testTimeout: 20000 },
} as import('vite').UserConfig)
