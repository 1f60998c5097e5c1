/** Builds a Debian package: the program in /opt/micwatch, its unit, its configuration, and scripts for dpkg. */

import { createHash } from 'node:crypto'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { ar, tarGz } from './archives.ts'

interface DebOptions {
  /** The folder of the program, which is moved into the package. */
  readonly program: string
  /** An empty working folder. */
  readonly work: string
  /** The folder with the scripts and the configuration. */
  readonly files: string
  /** The unit in `deploy/`. */
  readonly unit: string
  readonly version: string
  readonly architecture: string
  /** The time of all files. */
  readonly date: Date
}

const conffiles = ['/etc/micwatch/micwatch.yaml']
const scripts = ['postinst', 'prerm', 'postrm']

export function buildDeb({ program, work, files, unit, version, architecture, date }: DebOptions): Buffer {
  const [data, control] = [join(work, 'data'), join(work, 'control')]
  for (const folder of ['opt', 'etc/micwatch', 'lib/systemd/system', 'usr/bin', 'usr/share/doc/micwatch'])
    mkdirSync(join(data, folder), { recursive: true, mode: 0o755 })
  mkdirSync(control, { recursive: true })
  renameSync(program, join(data, 'opt/micwatch'))
  place(join(files, 'deb-micwatch.sh'), join(data, 'usr/bin/micwatch'), 0o755)
  place(join(files, 'micwatch.yaml'), join(data, 'etc/micwatch/micwatch.yaml'), 0o644)
  cpSync(join(data, 'opt/micwatch/LICENSE'), join(data, 'usr/share/doc/micwatch/copyright'))
  writeFileSync(join(data, 'lib/systemd/system/micwatch.service'), toPackagedUnit(readFileSync(unit, 'utf8')), {
    mode: 0o644,
  })

  for (const name of scripts) place(join(files, name), join(control, name), 0o755)
  writeFileSync(join(control, 'conffiles'), `${conffiles.join('\n')}\n`)
  const installed = listFiles(data)
  const sums = installed.map((path) => `${md5(path)}  ${relative(data, path)}`)
  writeFileSync(join(control, 'md5sums'), `${sums.join('\n')}\n`)
  const kilobytes = Math.ceil(installed.reduce((sum, path) => sum + statSync(path).size, 0) / 1024)
  writeFileSync(join(control, 'control'), describe(version, architecture, kilobytes))

  return ar([
    ['debian-binary', Buffer.from('2.0\n')],
    [
      'control.tar.gz',
      tarGz(control, ['./control', './conffiles', './md5sums', ...scripts.map((name) => `./${name}`)], date),
    ],
    ['data.tar.gz', tarGz(data, ['.'], date)],
  ])
}

function place(from: string, to: string, mode: number): void {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to)
  chmodSync(to, mode)
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

function describe(version: string, architecture: string, kilobytes: number): string {
  return `Package: micwatch
Version: ${version}
Architecture: ${architecture}
Maintainer: Micwatch
Installed-Size: ${kilobytes}
Depends: libc6 (>= 2.29), libstdc++6, libatomic1, passwd
Section: sound
Priority: optional
Description: monitor for wireless microphones
 Shows all wireless microphones in a venue on one page, live: receivers,
 channels and transmitters of many manufacturers. Contains its own Node.js.
`
}

function md5(path: string): string {
  return createHash('md5').update(readFileSync(path)).digest('hex')
}

function listFiles(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : [])).sort()
}
