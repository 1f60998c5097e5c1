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

/**
 * Taken into `dist/main.js`: a thousand small files of which we use a fraction, and which read nothing from a network.
 * Left outside they are read, parsed and kept one by one, at every start. Whatever faces a peer stays a package of its
 * own, so that its next version takes effect without a new build.
 */
const bundled = ['typebox', 'kysely']

async function buildProgram(): Promise<void> {
  const { version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string
    dependencies: Record<string, string>
  }
  await bundleProgram({
    absWorkingDir: root,
    entryPoints,
    outdir: 'dist',
    bundle: true,
    external: Object.keys(dependencies).filter((name) => !bundled.includes(name)),
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
