/**
 * `npm run package`: builds the packages in `release/`, each with its bill of materials, and SHA256SUMS. `npm run
 * package -- <target>` builds one, and `--fast` compresses less. Requires `npm run build`, GNU tar, xz, rpmbuild and
 * makensis, and at first the npm registry.
 */

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Source } from '../source.ts'
import { tarGz, zip } from './archives.ts'
import { buildDeb, buildKioskDeb } from './deb.ts'
import { addLaunchers } from './launchers.ts'
import { billOfPackages, PackageError, readBuild, writeProgram } from './program.ts'
import { buildRpm } from './rpm.ts'
import { buildSetup } from './setup.ts'
import type { PackageOptions } from './system.ts'
import { architectureOf, fileNameOf, type Target, targets } from './targets.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const release = join(root, 'release')
const kiosk = 'kiosk'
const names = [...targets.map(({ name }) => name), kiosk]

function buildPackage(target: Target, source: Source, isFast: boolean): void {
  const { version } = source
  const file = join(release, fileNameOf(target, version))
  inWorkFolder((work) => {
    const program = join(work, `micwatch-${version}`)
    writeProgram(program, { root, target, cache: join(root, 'node_modules/.cache/micwatch-package') })
    writeFileSync(file, pack(target, { root, source, program, work: join(work, 'package'), isFast }, work))
  })
  writeFileSync(`${file}.cdx.json`, billOfPackages(root, [target]))
}

function pack(target: Target, options: PackageOptions, folder: string): Buffer {
  const { kind } = target
  if (kind === 'deb') return buildDeb(options, architectureOf(target) as 'amd64' | 'arm64')
  if (kind === 'rpm') return buildRpm(options, architectureOf(target) as 'x86_64' | 'aarch64')
  const { version, date } = options.source
  addLaunchers(options.program, target.program === 'node.exe')
  if (kind === 'setup') return buildSetup(options)
  return kind === 'zip' ? zip(folder, `micwatch-${version}`, date) : tarGz(folder, [`micwatch-${version}`], date)
}

function buildKiosk(source: Source): void {
  const file = join(release, `micwatch-kiosk_${source.version}_all.deb`)
  inWorkFolder((work) => writeFileSync(file, buildKioskDeb({ root, source, work, isFast: false })))
}

function inWorkFolder(build: (work: string) => void): void {
  const work = mkdtempSync(join(tmpdir(), 'micwatch-package-'))
  try {
    build(work)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** In the format of `sha256sum --check`. */
function writeChecksums(): void {
  const files = readdirSync(release)
    .filter((name) => name !== 'SHA256SUMS')
    .sort()
  const sumOf = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(release, name)))
      .digest('hex')
  writeFileSync(join(release, 'SHA256SUMS'), files.map((name) => `${sumOf(name)}  ${name}\n`).join(''))
}

function run(args: readonly string[]): void {
  const isFast = args.includes('--fast')
  const wanted = args.filter((name) => name !== '--fast')
  const unknown = wanted.find((name) => !names.includes(name))
  if (unknown !== undefined) throw new PackageError(`unknown target ${unknown}; expected one of ${names.join(', ')}`)
  if (!existsSync(join(root, 'dist/main.js'))) throw new PackageError('dist/ is missing; run: npm run build')
  const source = readBuild(root)
  const isWanted = (name: string) => wanted.length === 0 || wanted.includes(name)
  // A complete build leaves no packages of other versions.
  if (wanted.length === 0) rmSync(release, { recursive: true, force: true })
  mkdirSync(release, { recursive: true })
  for (const target of targets) if (isWanted(target.name)) buildPackage(target, source, isFast)
  if (isWanted(kiosk)) buildKiosk(source)
  writeChecksums()
}

try {
  run(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof PackageError)) throw error
  console.error(`package: ${error.message}`)
  process.exitCode = 1
}
