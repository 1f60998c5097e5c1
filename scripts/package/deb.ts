/** Builds the Debian packages: the service with its scripts for dpkg, and the kiosk. */

import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Source } from '../source.ts'
import { ar, tarGz, tarXz } from './archives.ts'
import { contactOf, layOutSystem, type PackageOptions, place, write } from './system.ts'

interface DebOptions {
  readonly root: string
  readonly source: Source
  readonly work: string
  readonly isFast: boolean
}

interface DebDescription {
  readonly name: string
  readonly architecture: 'amd64' | 'arm64' | 'all'
  readonly section: string
  /** Fields of the control file besides those of every package. */
  readonly fields: string
  /** Configuration files, which an update does not overwrite. */
  readonly conffiles: readonly string[]
  /** Maintainer scripts: name -> source file. */
  readonly scripts: Readonly<Record<string, string>>
}

export function buildDeb(options: PackageOptions, architecture: 'amd64' | 'arm64'): Buffer {
  const files = join(options.root, 'scripts/package/files')
  const tree = layOutSystem(options, 'lib/systemd/system')
  return pack(tree, options, {
    name: 'micwatch',
    architecture,
    section: 'sound',
    fields: `Depends: libc6 (>= 2.29), libstdc++6, libatomic1, passwd
Description: monitor for wireless microphones
 Shows all wireless microphones in a venue on one page, live: receivers,
 channels and transmitters of many manufacturers. Contains its own Node.js.
`,
    conffiles: ['/etc/micwatch/micwatch.yaml'],
    scripts: Object.fromEntries(['postinst', 'prerm', 'postrm'].map((name) => [name, join(files, name)])),
  })
}

/** The package that shows a page on the whole screen of a Raspberry Pi. */
export function buildKioskDeb(options: DebOptions): Buffer {
  const files = join(options.root, 'scripts/package/files/kiosk')
  const tree = join(options.work, 'data')
  place(join(files, 'start'), join(tree, 'usr/lib/micwatch-kiosk/start'), 0o755)
  place(join(files, 'micwatch-kiosk.desktop'), join(tree, 'etc/xdg/autostart/micwatch-kiosk.desktop'))
  place(join(files, 'default'), join(tree, 'etc/default/micwatch-kiosk'))
  return pack(tree, options, {
    name: 'micwatch-kiosk',
    architecture: 'all',
    section: 'sound',
    fields: `Depends: chromium | chromium-browser, curl
Suggests: micwatch
Description: Micwatch on the whole screen of a Raspberry Pi
 Opens a page of Micwatch, usually the wall, when the desktop starts, and opens
 it again when the browser ends. The service may run on another machine.
`,
    conffiles: ['/etc/default/micwatch-kiosk', '/etc/xdg/autostart/micwatch-kiosk.desktop'],
    scripts: { postinst: join(files, 'postinst') },
  })
}

function pack(tree: string, { root, source, work, isFast }: DebOptions, description: DebDescription): Buffer {
  const { name, architecture, section, fields, conffiles, scripts } = description
  const { version, date } = source
  const contact = contactOf(root)
  const documents = join(tree, 'usr/share/doc', name)
  mkdirSync(documents, { recursive: true })
  cpSync(join(root, 'LICENSE'), join(documents, 'copyright'))
  write(join(documents, 'changelog.gz'), gzipSync(describeChanges(name, version, contact, date), { level: 9 }))
  place(join(root, 'scripts/package/files/lintian', name), join(tree, 'usr/share/lintian/overrides', name))

  const control = join(work, 'control')
  mkdirSync(control, { recursive: true })
  for (const [script, path] of Object.entries(scripts)) place(path, join(control, script), 0o755)
  writeFileSync(join(control, 'conffiles'), `${conffiles.join('\n')}\n`)
  const installed = listFiles(tree)
  // dpkg knows the sums of configuration files itself.
  const summed = installed.filter((path) => !conffiles.includes(`/${relative(tree, path)}`))
  writeFileSync(join(control, 'md5sums'), summed.map((path) => `${md5(path)}  ${relative(tree, path)}\n`).join(''))
  const kilobytes = Math.ceil(installed.reduce((sum, path) => sum + statSync(path).size, 0) / 1024)
  writeFileSync(
    join(control, 'control'),
    `Package: ${name}
Version: ${version}
Architecture: ${architecture}
Maintainer: ${contact}
Installed-Size: ${kilobytes}
Section: ${section}
Priority: optional
${fields}`,
  )
  const controlFiles = readdirSync(control).map((file) => `./${file}`)
  const data: [string, Buffer] = isFast
    ? ['data.tar.gz', tarGz(tree, ['.'], date)]
    : ['data.tar.xz', tarXz(tree, ['.'], date)]
  return ar([['debian-binary', Buffer.from('2.0\n')], ['control.tar.gz', tarGz(control, controlFiles, date)], data])
}

/** In the format of Debian's changelogs. */
function describeChanges(name: string, version: string, contact: string, date: Date): string {
  const time = date.toUTCString().replace('GMT', '+0000')
  return `${name} (${version}) stable; urgency=medium

  * See /opt/micwatch/CHANGELOG.md of the package micwatch.

 -- ${contact}  ${time}
`
}

function md5(path: string): string {
  return createHash('md5').update(readFileSync(path)).digest('hex')
}

function listFiles(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : [])).sort()
}
