/**
 * Checks the versions of installed packages. In older versions, a hostile peer could crash the process, exhaust its
 * memory or read its data.
 */

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { nativePackages, serialPackages } from '../scripts/bill-of-materials.ts'
import { createTestFolder } from './support/store/databases.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, unknown> }

function isAtLeast(version: string, minimum: string): boolean {
  const [actual, required] = [version, minimum].map((text) => text.split('.').map(Number.parseFloat))
  for (const [index, minimumPart] of (required ?? []).entries()) {
    const difference = (actual?.[index] ?? 0) - minimumPart
    if (difference !== 0) return difference > 0
  }
  return true
}

function installed(name: string): string {
  return JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version
}

describe('installed packages', () => {
  it('compares versions as numbers', () => {
    expect(['8.21.0', '8.21.1', '8.100.0', '9.0.0'].every((version) => isAtLeast(version, '8.21.0'))).toBe(true)
    expect(['8.20.9', '7.99.0', '8.3.0'].some((version) => isAtLeast(version, '8.21.0'))).toBe(false)
  })

  // Reliability: 0.1, 1.26.
  it.each([
    ['ws', '8.21.0'],
    ['undici', '7.24.0'],
    ['fastify', '5.8.1'],
    ['@fastify/static', '9.1.1'],
  ])('%s is at least %s in every installed copy', (name, minimum) => {
    expect([name, isAtLeast(installed(name), minimum)]).toEqual([name, true])
    const copies = Object.entries(lock.packages).filter(([path]) => path.endsWith(`node_modules/${name}`))
    expect(copies.length).toBeGreaterThan(0)
    for (const [path, { version }] of copies as [string, { version: string }][]) {
      expect([path, isAtLeast(version, minimum)]).toEqual([path, true])
    }
  })

  // Reliability: 0.1.
  it('SQLite is a version without the write-ahead log defect', () => {
    const database = new DatabaseSync(':memory:')
    const row = database.prepare('select sqlite_version() as version').get() as { version: string }
    database.close()
    expect([row.version, isAtLeast(row.version, '3.51.3')]).toEqual([row.version, true])
  })

  // Reliability: 0.1.
  it('Node.js and its built-in HTTP client are at least the required versions', () => {
    const { node, undici = '0' } = process.versions
    const minimums: Record<string, readonly [string, string]> = {
      20: ['20.20.2', '6.24.0'],
      22: ['22.22.2', '6.24.0'],
    }
    const [nodeMinimum, undiciMinimum] = minimums[node.split('.')[0] ?? ''] ?? ['24.14.1', '7.24.0']
    expect([node, isAtLeast(node, nodeMinimum)]).toEqual([node, true])
    expect([undici, isAtLeast(undici, undiciMinimum)]).toEqual([undici, true])
    const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(engines.node).toBe('^20.20.2 || ^22.22.2 || >=24.14.1')
  })

  // Reliability: 0.1, 1.26.
  it('no package that misparses addresses is installed', () => {
    const names = Object.keys(lock.packages).map((path) => path.replace(/^.*node_modules\//, ''))
    expect(names.filter((name) => ['ip', 'ssrfcheck', 'ssrf-req-filter', 'is-ip-private'].includes(name))).toEqual([])
  })
})

describe('the npm package', () => {
  it('needs no installed packages except those with native code', async () => {
    const { path: folder, drop } = await createTestFolder()
    onTestFinished(drop)
    const installed = withRequired(['@node-rs/argon2', '@photostructure/sqlite']).map((name) =>
      join(root, 'node_modules', name),
    )
    for (const path of [join(root, 'dist'), join(root, 'package.json'), ...installed]) {
      cpSync(path, join(folder, relative(root, path)), { recursive: true })
    }
    mkdirSync(join(folder, 'home'))
    const micwatch = (args: string[], input = '') =>
      execFileSync(process.execPath, ['../dist/main.js', ...args], {
        cwd: join(folder, 'home'),
        input,
        encoding: 'utf8',
      })
    expect(micwatch(['create_admin', '--username', 'ana', '--password-stdin'], 'correct horse battery\n')).toContain(
      'ana',
    )
    expect(micwatch(['nodes', '--json'])).toContain('"processes"')
  })

  it('names the packages that are bundled into it, with licences that allow it', () => {
    const titles = bundledPackages()
    for (const name of ['fastify', 'kysely', 'undici', 'ws', 'preact', 'uplot', '@fontsource-variable/inter']) {
      expect(titles).toContainEqual(expect.stringMatching(new RegExp(`^${name} \\d`)))
    }
    // OFL-1.1 is the licence of the typeface. It allows programs under any licence to include the font.
    const permissive = /\((0BSD|MIT(-0)?|ISC|Zlib|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0|OFL-1\.1)\)$/
    expect(titles.filter((title) => !permissive.test(title))).toEqual([])
  })

  // Conformance: C-17.91.
  it('lists in its bill of materials what is bundled into it, the packages with native code, and nothing else', () => {
    const { bomFormat, components } = JSON.parse(readFileSync(join(root, 'dist/sbom.cdx.json'), 'utf8')) as {
      bomFormat: string
      components: readonly { purl: string }[]
    }
    expect(bomFormat).toBe('CycloneDX')
    const listed = new Set(components.map(({ purl }) => decodeURIComponent(purl.replace('pkg:npm/', ''))))
    const bundled = bundledPackages().map((title) => title.split(' ').slice(0, 2).join('@'))
    const native = [...nativePackages, ...serialPackages].map((folder) => {
      const name = folder.replace(/^.*node_modules\//, '')
      return `${name}@${installed(folder)}`
    })
    const expected = [...new Set([...bundled, ...native])]
    expect(bundled.length).toBeGreaterThan(50)
    expect([...listed].filter((entry) => !entry.startsWith('pkg:generic/sqlite@')).sort()).toEqual(expected.sort())
  })
})

/** Returns the first line of each entry in the list of licences: name, version and licence. */
function bundledPackages(): readonly string[] {
  const text = readFileSync(join(root, 'dist/licences.txt'), 'utf8')
  const entries = text.split(`\n\n${'-'.repeat(80)}\n\n`).slice(1)
  return entries.map((entry) => entry.split('\n')[0] ?? '')
}

/** Returns these packages and those that they require, without optional ones for other platforms. */
function withRequired(names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    if (!existsSync(join(root, 'node_modules', name))) return []
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
      readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'),
    )
    return [name, ...withRequired(Object.keys({ ...dependencies, ...optionalDependencies }))]
  })
}
