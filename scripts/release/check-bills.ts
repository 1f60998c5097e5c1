/**
 * Unpacks the packages in `release/`, and compares the files of each with its bill of materials. Needs dpkg, tar, unzip,
 * rpm, cpio and 7z (the Debian package p7zip-full).
 */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const release = fileURLToPath(new URL('../../release', import.meta.url))

/** Commands that unpack "$1" into the working directory, by the end of its name. */
const unpackers: readonly (readonly [string, string])[] = [
  ['.deb', 'dpkg-deb --extract "$1" .'],
  ['.rpm', 'rpm2cpio "$1" | cpio --extract --make-directories --quiet'],
  ['.tar.gz', 'tar -xzf "$1"'],
  ['.zip', 'unzip -q "$1"'],
  ['.exe', '7z x "$1" >/dev/null'],
]

function unpack(file: string, folder: string): void {
  const [, command] = unpackers.find(([end]) => file.endsWith(end)) ?? []
  if (command === undefined) throw new Error(`cannot unpack ${file}`)
  execFileSync('bash', ['-o', 'pipefail', '-ec', command, 'bash', file], { cwd: folder })
}

/** Returns the packages, SQLite and Node.js that the files of an unpacked package contain, as `<name>@<version>`. */
function contentsOf(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const main = files.find((name) => /(^|\/)dist\/main\.js$/.test(name))
  if (main === undefined) throw new Error('dist/main.js is missing')
  const program = join(folder, main, '../..')
  const read = (name: string) => readFileSync(join(program, name), 'utf8')

  const bundled = [...read('dist/licences.txt').matchAll(/-{80}\n\n(\S+) (\S+) \(/g)]
  const installed = readdirSync(join(program, 'node_modules'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /^(@[^/]+\/)?[^@/]+\/package\.json$/.test(name))
    .map((name) => JSON.parse(read(join('node_modules', name))) as { name: string; version: string })
  const { versions } = JSON.parse(read('node_modules/@photostructure/sqlite/package.json'))
  // The address of its sources.
  const node = join(program, 'bin', existsSync(join(program, 'bin/node.exe')) ? 'node.exe' : 'node')
  const [, nodeVersion] = /nodejs\.org\/download\/release\/v([\d.]+)\//.exec(readFileSync(node, 'latin1')) ?? []
  const contents = [
    ...bundled.map(([, name, version]) => `${name}@${version}`),
    ...installed.map(({ name, version }) => `${name}@${version}`),
    `sqlite@${versions.sqlite}`,
    `node@${nodeVersion}`,
  ]
  return [...new Set(contents)].sort()
}

function listedIn(bill: string): string[] {
  const { components } = JSON.parse(bill) as { components: readonly { name: string; version: string }[] }
  return components.map(({ name, version }) => `${name}@${version}`).sort()
}

/** Returns the differences between a package and its bill of materials. */
function check(name: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'micwatch-bill-'))
  try {
    unpack(join(release, name), folder)
    const listed = listedIn(readFileSync(join(release, `${name}.cdx.json`), 'utf8'))
    const contents = contentsOf(folder)
    return [
      ...contents.filter((entry) => !listed.includes(entry)).map((entry) => `the bill does not list ${entry}`),
      ...listed.filter((entry) => !contents.includes(entry)).map((entry) => `the package does not contain ${entry}`),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const bill = '.cdx.json'
const names = readdirSync(release).filter((name) => name.endsWith(bill))
if (names.length === 0) throw new Error('release/ has no bills of materials; run: npm run package')
for (const name of names.map((file) => file.slice(0, -bill.length))) {
  const differences = check(name)
  console.log(`${name}: ${differences.length === 0 ? 'agrees with its bill of materials' : differences.join(', ')}`)
  if (differences.length > 0) process.exitCode = 1
}
