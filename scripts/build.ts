/** `npm run build`: builds the program (`dist/main.js`), the web pages and the help (`dist/web/`). */

import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { build as bundleProgram, type Plugin } from 'esbuild'
import { build as bundlePages } from 'vite'
import { billOfMaterials, nativePackages, serialPackages } from './bill-of-materials.ts'
import { writeHelp } from './help.ts'
import { readSource } from './source.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')

const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { engines: { node: string } }
const source = readSource(root)

/** Entry points of the program, its worker threads and its child processes: name in `dist/` -> source file. */
const entryPoints = {
  program: 'src/cli/program.ts',
  'hash-worker': 'src/actions/access/hash-worker.ts',
  'checkpoint-worker': 'src/storage/checkpoint-worker.ts',
  'history-worker': 'src/history/levels/history-worker.ts',
  'audio-worker': 'src/audio/audio-worker.ts',
  'frequency-worker': 'src/frequencies/frequency-worker.ts',
  'coordination-worker': 'src/actions/frequencies/coordination-worker.ts',
  'scan-worker': 'src/actions/frequencies/scan-worker.ts',
  'demo-day-worker': 'simulators/demo-day-worker.ts',
  'demo-sound-worker': 'simulators/audio/demo-sound-worker.ts',
  'backup-reader': 'src/storage/backup-reader.ts',
  'database-copier': 'src/storage/database-copier.ts',
}

/** An optional dependency of `pg` that Micwatch does not use. */
const optionalDependencies = ['pg-native']

/**
 * Packages that others load at startup, but that Micwatch never calls: Fastify's own schema compilers, and the file
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

/** Defines `require` and `__dirname` for bundled CommonJS packages. */
const commonJsBanner =
  "import { createRequire as requireFrom } from 'node:module'; " +
  'const require = requireFrom(import.meta.url); const __dirname = import.meta.dirname;'

/** Leaves the program out of `main.js`, which loads it only in a supported Node.js. */
const withoutProgram: Plugin = {
  name: 'program',
  setup(build) {
    build.onResolve({ filter: /^\.\/cli\/program\.ts$/ }, () => ({ path: './program.js', external: true }))
  },
}

/**
 * Builds `main.js`, which checks the Node.js version and loads `program.js`. The target is ES5, so that newer syntax,
 * which an old Node.js could not parse, is an error. Node.js 12 can parse `import()`.
 */
async function buildLauncher(): Promise<void> {
  await bundleProgram({
    absWorkingDir: root,
    entryPoints: { main: 'src/main.ts' },
    outdir: dist,
    bundle: true,
    plugins: [withoutProgram],
    format: 'esm',
    platform: 'node',
    target: 'es5',
    supported: { 'dynamic-import': true },
    banner: { js: '#!/usr/bin/env node' },
    define: { __MICWATCH_NODE_RANGE__: JSON.stringify(engines.node) },
    logLevel: 'warning',
  })
  chmodSync(join(dist, 'main.js'), 0o755)
}

/**
 * Builds the program and returns its source files. Packages are bundled, because one file loads in a third of the time
 * of a thousand files.
 */
async function buildProgram(): Promise<string[]> {
  const { metafile } = await bundleProgram({
    absWorkingDir: root,
    entryPoints,
    outdir: dist,
    bundle: true,
    // Keeps modules that are imported on demand in separate files.
    splitting: true,
    external: [...nativePackages, ...optionalDependencies],
    plugins: [withoutUnused],
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: 'linked',
    banner: { js: commonJsBanner },
    define: {
      __MICWATCH_VERSION__: JSON.stringify(source.version),
      __MICWATCH_COMMIT__: JSON.stringify(source.commit),
      __MICWATCH_PROJECT_URL__: JSON.stringify(source.projectUrl),
    },
    metafile: true,
    logLevel: 'warning',
  })
  for (const file of Object.keys(metafile.outputs)) if (file.endsWith('.js')) escapeNonLatin1(join(root, file))
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs))
  return inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path)
}

/**
 * Escapes characters beyond Latin-1, because a single one makes V8 store the whole source with two bytes per character.
 * esbuild escapes them in strings. The rest are in comments and regular expressions, where an escape is equivalent.
 */
function escapeNonLatin1(path: string): void {
  const text = readFileSync(path, 'utf8')
  const escaped = text.replace(
    /[^\0-\xff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  if (escaped !== text) writeFileSync(path, escaped)
}

/** Builds the web pages and returns their source files, including fonts and images that style sheets name. */
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
        generateBundle(_options, bundle) {
          const chunks = Object.values(bundle).filter((output) => output.type === 'chunk')
          const modules = chunks.flatMap((chunk) => Object.entries(chunk.modules))
          const rendered = modules.filter(([, { renderedLength }]) => renderedLength > 0)
          inputs.push(...rendered.map(([id]) => relative(root, id)))
          const assets = Object.values(bundle).filter((output) => output.type === 'asset')
          const names = assets.flatMap(({ originalFileNames }) => originalFileNames)
          inputs.push(...names.map((name) => relative(root, join(web, name))))
        },
      },
    ],
  })
  return inputs
}

/** Smaller files are not worth a second variant. */
const minCompressedBytes = 1024

/** Writes a brotli and a gzip variant next to each text file of the pages, which the server selects from. */
async function compressPages(folder: string): Promise<void> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const texts = files
    .filter((name) => /\.(?:css|html|js|svg|webmanifest)$/.test(name))
    .map((name) => join(folder, name))
  await Promise.all(
    texts.map(async (path) => {
      const bytes = readFileSync(path)
      if (bytes.length < minCompressedBytes) return
      writeFileSync(`${path}.br`, await promisify(brotliCompress)(bytes))
      writeFileSync(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }))
    }),
  )
}

// React and others have a second variant for development.
process.env.NODE_ENV = 'production'

try {
  rmSync(dist, { recursive: true, force: true })
  const inputs = await Promise.all([buildProgram(), buildPages(), buildLauncher().then(() => [])])
  writeHelp(root, join(dist, 'web'))
  await compressPages(join(dist, 'web'))
  const bundled = packageFolders(inputs.flat())
  const native = [...nativePackages, ...serialPackages].map((name) => `node_modules/${name}`)
  writeFileSync(join(dist, 'sbom.cdx.json'), billOfMaterials(root, source, [...bundled, ...native]))
  writeFileSync(join(dist, 'licences.txt'), licencesOf(bundled, root))
} catch (error) {
  console.error(`micwatch: build failed: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}

/** Returns the folders of the packages that contain one of `files`. */
function packageFolders(files: Iterable<string>): string[] {
  const folders = new Set<string>()
  for (const file of files) {
    const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? []
    if (folder !== undefined) folders.add(folder)
  }
  return [...folders].sort()
}

/** Returns name, version and licence text of the package in each of `folders` (relative to `root`). */
function licencesOf(folders: readonly string[], root: string): string {
  const texts = folders.map((folder) => licenceOf(join(root, folder)))
  return ['Micwatch includes these packages.', ...new Set(texts)].join(`\n\n${'-'.repeat(80)}\n\n`)
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder)
    .sort()
    .find((name) => /^licen[cs]e/i.test(name))
  const licenceText = file === undefined ? '' : readFileSync(join(folder, file), 'utf8')
  return `${name} ${version} (${license ?? 'no licence stated'})\n\n${licenceText.trim()}`.trim()
}
