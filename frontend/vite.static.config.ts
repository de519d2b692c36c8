import { defineConfig } from 'vite'

// One classic script that draws a static SVG anywhere JavaScript runs, without a page: the server runs it in V8.
export default defineConfig({
  build: {
    outDir: '../server/assets',
    emptyOutDir: false,
    target: 'es2022',
    lib: { entry: 'src/static/svg.ts', name: 'gradgraphStatic', formats: ['iife'], fileName: () => 'static-svg.js' },
  },
})
