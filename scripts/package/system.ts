/** Lays out the files that the Debian and the rpm package install: program, unit, configuration, manual page. */

import { chmodSync, cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Source } from '../source.ts'

export interface PackageOptions {
  readonly root: string
  readonly source: Source
  /** The folder of the program, which is moved into the package. */
  readonly program: string
  /** A working folder, which must not exist. */
  readonly work: string
  /** Compresses less, in a fraction of the time. */
  readonly isFast: boolean
}

/** Returns the folder with the files, as they are below `/`. */
export function layOutSystem({ root, program, work }: PackageOptions, unitFolder: string): string {
  const tree = join(work, 'data')
  const files = join(root, 'scripts/package/files')
  mkdirSync(join(tree, 'opt'), { recursive: true, mode: 0o755 })
  renameSync(program, join(tree, 'opt/micwatch'))
  place(join(files, 'deb-micwatch.sh'), join(tree, 'usr/bin/micwatch'), 0o755)
  place(join(files, 'micwatch.yaml'), join(tree, 'etc/micwatch/micwatch.yaml'))
  write(join(tree, 'usr/share/man/man1/micwatch.1.gz'), gzipSync(readFileSync(join(files, 'micwatch.1')), { level: 9 }))
  const unit = readFileSync(join(root, 'deploy/micwatch.service'), 'utf8')
  write(join(tree, unitFolder, 'micwatch.service'), toPackagedUnit(unit))
  return tree
}

export function place(from: string, to: string, mode = 0o644): void {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to)
  chmodSync(to, mode)
}

export function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content, { mode: 0o644 })
}

/** The name and the address that packages state as their contact. */
export function contactOf(root: string): string {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).author
}

/** Adapts the unit to the paths and the user of the package. Throws if an expected line is missing. */
function toPackagedUnit(unit: string): string {
  const changes = [
    [/^# Install as .*\n/m, ''],
    [
      /^ExecStart=.*$/m,
      'ExecStart=/opt/micwatch/bin/node /opt/micwatch/dist/main.js serve --config /etc/micwatch/micwatch.yaml',
    ],
    [/^Environment=MICWATCH_DATA_DIR=.*\n/m, ''],
    [/^EnvironmentFile=.*$/m, 'EnvironmentFile=-/etc/micwatch/micwatch.env'],
    [/^DynamicUser=yes$/m, 'User=micwatch\nGroup=micwatch'],
  ] as const
  return changes.reduce((text, [pattern, replacement]) => {
    if (!pattern.test(text)) throw new Error(`deploy/micwatch.service has no line ${pattern.source}`)
    return text.replace(pattern, replacement)
  }, unit)
}
