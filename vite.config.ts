import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { catalogues } from './scripts/catalogues.ts'

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as { version: string }

// The pages of web/ -> dist/web. Nothing may be inlined, because the Content-Security-Policy allows only the service's
// own files.
export default defineConfig({
  root: 'web',
  // Every address in index.html begins with "./assets/"; the server puts its mount prefix in place of the dot.
  base: './',
  plugins: [react(), catalogues({ folder: fileURLToPath(new URL('web/languages', import.meta.url)), isDivided: true })],
  define: { __MICWATCH_VERSION__: JSON.stringify(version) },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    // The script that every page loads is sent compressed.
    chunkSizeWarningLimit: 700,
    modulePreload: { polyfill: false },
    // One file contains the modules that every page loads. Those that several pages share are grouped by the pages that load them; small
    // groups are merged, because the browser would otherwise have to request seventy files.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'app', tags: ['$initial'], priority: 1 },
            { name: 'shared', minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 20_000 },
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
