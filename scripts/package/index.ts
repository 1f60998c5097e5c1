/**
 * `npm run package`: builds the packages in `release/`, with SHA256SUMS and the bill of materials. `npm run package --
 * <target>` builds one. Requires `npm run build`, GNU tar and, at first, the npm registry.
 */

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sourceDate } from '../source-date.ts'
import { tarGz, zip } from './archives.ts'
import { buildDeb } from './deb.ts'
import { addLaunchers } from './launchers.ts'
import { billOfPackages, PackageError, writeProgram } from './program.ts'
import { fileNameOf, type Target, targets } from './targets.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const files = join(root, 'scripts/package/files')
const release = join(root, 'release')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

function buildPackage(target: Target): void {
  const work = mkdtempSync(join(tmpdir(), 'micwatch-package-'))
  try {
    const name = `micwatch-${version}`
    const program = join(work, name)
    writeProgram(program, { root, target, cache: join(root, 'node_modules/.cache/micwatch-package') })
    writeFileSync(join(release, fileNameOf(target, version)), pack(target, work, name))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function pack({ kind, program, architecture = 'amd64' }: Target, work: string, name: string): Buffer {
  const date = sourceDate(root)
  if (kind === 'deb') {
    const unit = join(root, 'deploy/micwatch.service')
    return buildDeb({ program: join(work, name), work: join(work, 'deb'), files, unit, version, architecture, date })
  }
  addLaunchers(join(work, name), program === 'node.exe')
  return kind === 'zip' ? zip(work, name, date) : tarGz(work, [name], date)
}

const isBuilt = (target: Target) => existsSync(join(release, fileNameOf(target, version)))

/** In the format of `sha256sum --check`. */
function writeChecksums(): void {
  const names = readdirSync(release)
    .filter((name) => name !== 'SHA256SUMS')
    .sort()
  const lines = names.map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(join(release, name)))
        .digest('hex')}  ${name}`,
  )
  writeFileSync(join(release, 'SHA256SUMS'), `${lines.join('\n')}\n`)
}

function run(names: readonly string[]): void {
  const unknown = names.find((name) => !targets.some((target) => target.name === name))
  if (unknown !== undefined)
    throw new PackageError(`unknown target ${unknown}; expected one of ${targets.map(({ name }) => name).join(', ')}`)
  if (!existsSync(join(root, 'dist/main.js'))) throw new PackageError('dist/ is missing; run: npm run build')
  // A complete build leaves no packages of other versions.
  if (names.length === 0) rmSync(release, { recursive: true, force: true })
  mkdirSync(release, { recursive: true })
  for (const target of targets) if (names.length === 0 || names.includes(target.name)) buildPackage(target)
  writeFileSync(join(release, `micwatch-${version}.cdx.json`), billOfPackages(root, targets.filter(isBuilt)))
  writeChecksums()
}

try {
  run(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof PackageError)) throw error
  console.error(`package: ${error.message}`)
  process.exitCode = 1
}
