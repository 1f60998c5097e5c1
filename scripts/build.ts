/** Builds what is shipped: `dist/main.js`, the program, and `dist/web/`, its pages. Run by `npm run build`. */

import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build as bundleProgram } from 'esbuild'
import { build as bundlePages } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Where a process or a worker thread starts: name in `dist/` -> source. */
const entryPoints = {
  main: 'src/main.ts',
  'hash-worker': 'src/hash-worker.ts',
}

async function buildProgram(): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  await bundleProgram({
    absWorkingDir: root,
    entryPoints,
    outdir: 'dist',
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'linked',
    banner: { js: '#!/usr/bin/env node' },
    define: { __MICWATCH_VERSION__: JSON.stringify(version) },
    logLevel: 'warning',
  })
  chmodSync(join(root, 'dist/main.js'), 0o755)
}

async function buildPages(): Promise<void> {
  await bundlePages({ configFile: join(root, 'vite.config.ts'), root: join(root, 'web'), logLevel: 'warn' })
}

try {
  await Promise.all([buildProgram(), buildPages()])
} catch (error) {
  console.error(`micwatch: the build failed: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
