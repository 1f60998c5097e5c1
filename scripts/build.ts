/** `npm run build`: builds the program (`dist/main.js`), the web pages and the help (`dist/web/`). */

import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build as bundleProgram, type Plugin } from 'esbuild'
import { build as bundlePages } from 'vite'
import { billOfMaterials } from './bill-of-materials.ts'
import { writeCodeCache } from './code-cache.ts'
import { writeHelp } from './help.ts'
import { licencesOf } from './licences.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')

const { version, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string
  engines: { node: string }
}

/** Entry points of the worker threads and child processes: name in `dist/` -> source file. */
const workers = {
  'hash-worker': 'src/workers/hash-worker.ts',
  'checkpoint-worker': 'src/workers/checkpoint-worker.ts',
  'history-worker': 'src/workers/history-worker.ts',
  'frequency-worker': 'src/workers/frequency-worker.ts',
  'scan-worker': 'src/workers/scan-worker.ts',
  'demo-day-worker': 'simulators/demo-day-worker.ts',
  'backup-reader': 'src/workers/backup-reader.ts',
}

/** Packages with native code, which are installed for each platform and not bundled. */
const nativePackages = ['@node-rs/argon2', '@photostructure/sqlite']
/** An optional dependency of `pg` that Micwatch does not use. */
const optionalDependencies = ['pg-native']

/**
 * Packages that others load at once, but of which Micwatch calls nothing: Fastify's own compilers of schemas, and the file
 * search of @fastify/static. They would be a tenth of the program that starts.
 */
const unusedPackages = /^(?:@fastify\/ajv-compiler|@fastify\/fast-json-stringify-compiler|glob)$/
const withoutUnused: Plugin = {
  name: 'unused packages',
  setup(build) {
    build.onResolve({ filter: unusedPackages }, ({ path }) => ({ path, namespace: 'unused' }))
    build.onLoad({ filter: /.*/, namespace: 'unused' }, ({ path }) => ({
      contents: `const fail = () => { throw new Error('The program does not contain the package ${path}.') }
module.exports = new Proxy(fail, { get: () => fail })`,
    }))
  },
}

/**
 * Puts packages that are imported on demand into files of their own, such as `undici.cjs`, and adds their names to
 * `names`. They are not read at the start.
 */
const intoOwnFiles = (names: Set<string>): Plugin => ({
  name: 'packages on demand',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      if (kind !== 'dynamic-import') return undefined
      names.add(path)
      return { path: `./${path}.cjs`, external: true }
    })
  },
})

const target = 'node20'

const options = {
  absWorkingDir: root,
  outdir: dist,
  bundle: true,
  external: [...nativePackages, ...optionalDependencies],
  platform: 'node',
  target,
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: 'linked',
  metafile: true,
  logLevel: 'warning',
} satisfies BuildOptions

const commonJs = { format: 'cjs', outExtension: { '.js': '.cjs' } } as const

/** Defines `require` and `__dirname` for bundled CommonJS packages. */
const commonJsBanner =
  "import { createRequire as requireFrom } from 'node:module'; " +
  'const require = requireFrom(import.meta.url); const __dirname = import.meta.dirname;'

/**
 * Builds `main.js`, which checks the Node.js version, and `start.js`, which it loads. The target of `main.js` is ES5, so
 * that newer syntax, which an old Node.js could not parse, is an error.
 */
async function buildLauncher(): Promise<void> {
  const shared = { absWorkingDir: root, outdir: dist, platform: 'node', logLevel: 'warning' } as const
  await bundleProgram({
    ...shared,
    entryPoints: { main: 'src/main.ts' },
    target: 'es5',
    banner: { js: '#!/usr/bin/env node' },
    define: { __MICWATCH_NODE_RANGE__: JSON.stringify(engines.node) },
  })
  chmodSync(join(dist, 'main.js'), 0o755)
  await bundleProgram({ ...shared, entryPoints: { start: 'src/start.ts' }, target, format: 'esm' })
}

/**
 * Builds the program and returns the input files. Packages are bundled, because one file loads in a third of the time
 * that a thousand files need. `program.cjs` is one function, which `start.js` compiles and calls, because Node.js 20 has no
 * code cache for ECMAScript modules.
 */
async function buildProgram(): Promise<string[]> {
  const onDemand = new Set<string>()
  const program = await bundleProgram({
    ...options,
    entryPoints: { program: 'src/cli/program.ts' },
    plugins: [withoutUnused, intoOwnFiles(onDemand)],
    ...commonJs,
    supported: { 'dynamic-import': false },
    banner: { js: '(function (require, __filename, __dirname, importMetaUrl) { "use strict";' },
    footer: { js: '})' },
    define: { __MICWATCH_VERSION__: JSON.stringify(version), 'import.meta.url': 'importMetaUrl' },
  })
  const packages = await bundleProgram({
    ...options,
    ...commonJs,
    entryPoints: [...onDemand],
  })
  const others = await bundleProgram({
    ...options,
    entryPoints: workers,
    // What several workers share is in files of its own.
    splitting: true,
    format: 'esm',
    banner: { js: commonJsBanner },
  })
  const metafiles = [program, packages, others].map(({ metafile }) => metafile)
  for (const file of metafiles.flatMap(({ outputs }) => Object.keys(outputs))) {
    if (/\.c?js$/.test(file)) escapeNonAscii(join(root, file))
  }
  return metafiles.flatMap(({ inputs }) => Object.keys(inputs))
}

/**
 * Escapes characters beyond ASCII, so that a file is the same text in every encoding, and because a single character
 * beyond Latin-1 makes V8 store the whole source with two bytes per character. esbuild escapes them in strings; those that
 * remain are in comments and regular expressions, where an escape is equivalent.
 */
function escapeNonAscii(path: string): void {
  const text = readFileSync(path, 'utf8')
  const escaped = text.replace(
    /[^\0-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  if (escaped !== text) writeFileSync(path, escaped)
}

/** Builds the web pages and returns the input files, including fonts and images that style sheets name. */
async function buildPages(): Promise<string[]> {
  const inputs: string[] = []
  const web = join(root, 'web')
  await bundlePages({
    configFile: join(root, 'vite.config.ts'),
    root: web,
    logLevel: 'warn',
    plugins: [
      {
        name: 'inputs',
        moduleParsed: ({ id }) => void inputs.push(relative(root, id)),
        generateBundle(_options, bundle) {
          const assets = Object.values(bundle).filter((output) => output.type === 'asset')
          const names = assets.flatMap(({ originalFileNames }) => originalFileNames)
          inputs.push(...names.map((name) => relative(root, join(web, name))))
        },
      },
    ],
  })
  return inputs
}

function storeCodeCache(): void {
  try {
    writeCodeCache(dist)
  } catch (error) {
    console.warn(`micwatch: there is no code cache, so every start takes longer: ${error}`)
  }
}

try {
  rmSync(dist, { recursive: true, force: true })
  const inputs = await Promise.all([buildProgram(), buildPages(), buildLauncher().then(() => [])])
  writeHelp(root, join(dist, 'web', 'help'))
  writeFileSync(join(dist, 'sbom.cdx.json'), billOfMaterials(root))
  writeFileSync(join(dist, 'licences.txt'), licencesOf(inputs.flat(), root))
  storeCodeCache()
} catch (error) {
  console.error(`micwatch: build failed: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
