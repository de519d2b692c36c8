import { defineConfig } from 'vite'

// One classic script that lays out graphs and draws them as SVG anywhere JavaScript runs, without a page: the server
// runs it in V8.
export default defineConfig({
  build: {
    outDir: '../server/assets',
    emptyOutDir: false,
    target: 'es2022',
    lib: { entry: 'src/static/main.ts', name: 'gradgraphStatic', formats: ['iife'], fileName: () => 'static-svg.js' },
  },
})
