import { readFileSync } from 'node:fs'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as { version: string }

// The pages of web/ -> dist/web. Nothing may be inlined, because the Content-Security-Policy allows only the service's
// own files.
export default defineConfig({
  root: 'web',
  // Every address in index.html begins with "./assets/"; the server puts its mount prefix in place of the dot.
  base: './',
  plugins: [react()],
  define: { __MICWATCH_VERSION__: JSON.stringify(version) },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // One file contains all modules that several pages use. With a file for each set of pages that share modules, the
    // browser would have to request seventy.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] } } },
  },
  server: {
    proxy: {
      '/api': 'http://127.0.0.1:8080',
      '/ws': { target: 'ws://127.0.0.1:8080', ws: true },
    },
  },
})
