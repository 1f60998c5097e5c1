/** Builds what is shipped: `dist/main.js`, the program, and `dist/web/`, its pages. Run by `npm run build`. */

import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build as bundleProgram } from 'esbuild'
import { build as bundlePages } from 'vite'
import { licencesOf } from './licences.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')

const { version, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string
  engines: { node: string }
}

/** Where the program, a thread or another process of it starts: name in `dist/` -> source. */
const entryPoints = {
  program: 'src/main.ts',
  'hash-worker': 'src/hash-worker.ts',
  'checkpoint-worker': 'src/checkpoint-worker.ts',
  'backup-reader': 'src/backup-reader.ts',
}

/** Compiled for the machine they run on, so that they are installed, not built in. */
const installed = ['@node-rs/argon2', '@photostructure/sqlite']
/** Offered by `pg`, and missed by nobody. */
const absent = ['pg-native']

/** For packages from before there were modules; they `require` what Node itself has, and look beside themselves. */
const commonJs =
  "import { createRequire as requireFrom } from 'node:module'; " +
  'const require = requireFrom(import.meta.url); const __dirname = import.meta.dirname;'

/** `main.js`, which starts `program.js` where Node.js is new enough. The target makes any newer syntax an error. */
async function buildStart(): Promise<void> {
  await bundleProgram({
    absWorkingDir: root,
    entryPoints: { main: 'src/start.ts' },
    outdir: dist,
    platform: 'node',
    target: 'es5',
    banner: { js: '#!/usr/bin/env node' },
    define: { __MICWATCH_NODE_RANGE__: JSON.stringify(engines.node) },
    logLevel: 'warning',
  })
  chmodSync(join(dist, 'main.js'), 0o755)
}

/** Gives the files that went in. Packages are built in: one file starts in a third of the time a thousand take. */
async function buildProgram(): Promise<string[]> {
  const { metafile } = await bundleProgram({
    absWorkingDir: root,
    entryPoints,
    outdir: dist,
    bundle: true,
    // What few need, and is imported where it is needed, stays a file of its own.
    splitting: true,
    external: [...installed, ...absent],
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: 'linked',
    banner: { js: commonJs },
    define: { __MICWATCH_VERSION__: JSON.stringify(version) },
    metafile: true,
    logLevel: 'warning',
  })
  for (const file of Object.keys(metafile.outputs)) if (file.endsWith('.js')) keepNarrow(join(root, file))
  return Object.keys(metafile.inputs)
}

/**
 * V8 keeps a program in one byte a letter, or all of it in two where a single one is beyond Latin-1. In texts esbuild has
 * escaped them; comments and regular expressions of the packages may still have some, and an escape means the same there.
 */
function keepNarrow(path: string): void {
  const text = readFileSync(path, 'utf8')
  const narrow = text.replace(/[^\0-\xff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
  if (narrow !== text) writeFileSync(path, narrow)
}

/** Gives the files that went in. */
async function buildPages(): Promise<string[]> {
  const inputs: string[] = []
  await bundlePages({
    configFile: join(root, 'vite.config.ts'),
    root: join(root, 'web'),
    logLevel: 'warn',
    plugins: [{ name: 'inputs', moduleParsed: ({ id }) => void inputs.push(relative(root, id)) }],
  })
  return inputs
}

try {
  rmSync(dist, { recursive: true, force: true })
  const inputs = await Promise.all([buildProgram(), buildPages(), buildStart().then(() => [])])
  writeFileSync(join(dist, 'licences.txt'), licencesOf(inputs.flat(), root))
} catch (error) {
  console.error(`micwatch: the build failed: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
