import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { catalogues } from './scripts/catalogues.ts'
import { pageFiles } from './scripts/page-files.ts'
import { readSource } from './scripts/source.ts'

const { version } = readSource(fileURLToPath(new URL('.', import.meta.url)))

// The pages of web/ -> dist/web. Nothing may be inlined, because the Content-Security-Policy allows only the service's
// own files.
export default defineConfig({
  root: 'web',
  // Every address in index.html begins with "./assets/"; the server puts its mount prefix in place of the dot.
  base: './',
  plugins: [
    react(),
    catalogues({ folder: fileURLToPath(new URL('web/languages', import.meta.url)), isDivided: true }),
    pageFiles(),
  ],
  define: { __MICWATCH_VERSION__: JSON.stringify(version) },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    // The script that every page loads is sent compressed.
    chunkSizeWarningLimit: 700,
    modulePreload: { polyfill: false },
    // One file contains the modules that every page loads. Those that several pages share are grouped by the pages that load them. Very
    // small groups are merged, because each file has 730 bytes of headers.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // `app` waits for a catalogue before it runs, so what catalogues import must not be part of it.
            { name: 'preload', test: 'vite/preload-helper', priority: 2 },
            { name: 'app', tags: ['$initial'], priority: 1 },
            { name: 'shared', minShareCount: 3, entriesAware: true, entriesAwareMergeThreshold: 5_000 },
          ],
        },
      },
    },
  },
  server: {
    proxy: {
      '/api': 'http://127.0.0.1:8080',
      '/ws': { target: 'ws://127.0.0.1:8080', ws: true },
    },
  },
})
