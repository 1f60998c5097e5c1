/** Creates the folder of the program: the build, Node.js, and the native packages of one platform. */

import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { billOfMaterials, listedFolders, serialPackages, sourceOf } from '../bill-of-materials.ts'
import type { Source } from '../source.ts'
import { nodeVersion, type Target } from './targets.ts'

/** An error that its message explains. */
export class PackageError extends Error {}

interface ProgramOptions {
  readonly root: string
  readonly target: Target
  /** Keeps downloaded packages. */
  readonly cache: string
}

/** `folder` must not exist. */
export function writeProgram(folder: string, { root, target, cache }: ProgramOptions): void {
  mkdirSync(join(folder, 'bin'), { recursive: true })
  const isCopied = (path: string) => extname(path) !== '.map'
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true, filter: isCopied })
  writeFileSync(join(folder, 'dist/sbom.cdx.json'), billOfPackages(root, [target]))
  for (const name of ['LICENSE', 'CHANGELOG.md']) cpSync(join(root, name), join(folder, name))
  // The README of the repository describes the sources.
  cpSync(join(root, 'scripts/package/README.md'), join(folder, 'README.md'))
  const { name, type, license } = readJson(join(root, 'package.json'))
  const { version } = readBuild(root)
  // `type` makes Node.js treat the files in dist/ as modules.
  writeFileSync(
    join(folder, 'package.json'),
    `${JSON.stringify({ name, version, type, license, private: true }, null, 2)}\n`,
  )

  const node = download(`${target.node}@${nodeVersion}`, cache)
  cpSync(join(node, 'bin', target.program), join(folder, 'bin', target.program))
  chmodSync(join(folder, 'bin', target.program), 0o755)
  if (existsSync(join(node, 'LICENSE'))) cpSync(join(node, 'LICENSE'), join(folder, 'bin/LICENSE'))

  const modules = join(root, 'node_modules')
  const into = (packageName: string) => join(folder, 'node_modules', packageName)
  const argon2 = '@node-rs/argon2'
  copyPackage(join(modules, argon2), into(argon2))
  const argon2Version = String(readJson(join(modules, argon2, 'package.json')).version)
  copyPackage(download(`${target.argon2}@${argon2Version}`, cache), into(target.argon2))
  const sqlite = '@photostructure/sqlite'
  copyPackage(join(modules, sqlite), into(sqlite), ['prebuilds', 'src', 'scripts', 'binding.gyp'])
  copyPrebuilt(join(modules, sqlite), into(sqlite), target.sqlite)
  copySerial(modules, into, target)
  // Finds the prebuilt file.
  copyPackage(join(modules, 'node-gyp-build'), into('node-gyp-build'))
}

/** Copies the package for serial ports, with the prebuilt file of the platform. */
function copySerial(modules: string, into: (packageName: string) => string, target: Target): void {
  const serial = '@serialport/bindings-cpp'
  copyPackage(join(modules, serial), into(serial), ['prebuilds', 'src', 'binding.gyp'])
  copyPrebuilt(join(modules, serial), into(serial), target.serial)
  for (const name of serialPackages) copyPackage(join(modules, name), into(name))
}

/** Copies the prebuilt file of a platform. Node.js of these packages also needs glibc. */
function copyPrebuilt(from: string, to: string, platform: string): void {
  const folder = join('prebuilds', platform)
  const isUsable = (path: string) => !path.endsWith('.musl.node')
  cpSync(join(from, folder), join(to, folder), { recursive: true, filter: isUsable })
}

/** Returns the bill of materials of the packages of these targets. */
export function billOfPackages(root: string, targets: readonly Target[]): string {
  const built = readBill(root)
  const binaries = targets.map(({ argon2 }) => `node_modules/${argon2}`)
  return billOfMaterials(root, sourceOf(built), [...listedFolders(built), ...binaries], nodeVersion)
}

/** Returns the sources from which `dist/` was built. */
export function readBuild(root: string): Source {
  return sourceOf(readBill(root))
}

const readBill = (root: string) => readFileSync(join(root, 'dist/sbom.cdx.json'), 'utf8')

/** Throws an error that names the Debian package of a missing program. */
export function requireProgram(name: string, debianPackage: string): void {
  if (spawnSync('which', [name]).status === 0) return
  throw new PackageError(`${name} is missing; install the Debian package ${debianPackage}`)
}

/** Copies the files of a package that run, except those in `without`. */
function copyPackage(from: string, to: string, without: readonly string[] = []): void {
  mkdirSync(dirname(to), { recursive: true })
  const excluded = new Set([...without, 'node_modules'].map((name) => join(from, name)))
  const isNeeded = (path: string) => !excluded.has(path) && !/\.(map|ts|mts|cts|md)$/.test(path)
  cpSync(from, to, { recursive: true, dereference: true, filter: isNeeded })
}

/**
 * Downloads a package from the registry, unless it is in the cache, and returns its folder. Processes may share the
 * cache: each downloads into a separate folder, and the first complete one stays.
 */
function download(reference: string, cache: string): string {
  const folder = join(cache, reference.replaceAll('/', '+'))
  const contents = join(folder, 'package')
  if (existsSync(contents)) return contents
  mkdirSync(cache, { recursive: true })
  const unfinished = mkdtempSync(`${folder}-`)
  try {
    execFileSync('npm', ['pack', reference, '--silent', '--pack-destination', unfinished], { stdio: 'ignore' })
    const [file = ''] = readdirSync(unfinished)
    execFileSync('tar', ['--extract', '--gzip', '--file', join(unfinished, file), '--directory', unfinished])
    rmSync(join(unfinished, file))
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    throw new PackageError(`the package ${reference} cannot be downloaded from the npm registry; check the network`, {
      cause: error,
    })
  }
  try {
    renameSync(unfinished, folder)
  } catch (error) {
    // Another process was first.
    rmSync(unfinished, { recursive: true, force: true })
    if (!existsSync(contents)) throw error
  }
  return contents
}

function readJson(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, 'utf8'))
}
