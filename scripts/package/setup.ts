/** Builds the installer for Windows with NSIS, which runs on Linux. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { requireProgram } from './program.ts'
import type { PackageOptions } from './system.ts'

export function buildSetup({ root, source, program, work, isFast }: PackageOptions): Buffer {
  requireProgram('makensis', 'nsis')
  mkdirSync(work, { recursive: true })
  const [list, output] = [join(work, 'files.nsh'), join(work, 'setup.exe')]
  writeFileSync(list, listInstallation(program))
  const numbers = /^\d+\.\d+\.\d+/.exec(source.version)?.[0] ?? '0.0.0'
  const defines = {
    VERSION: source.version,
    NUMBERS: `${numbers}.0`,
    FILES: list,
    TASK: join(root, 'scripts/package/files/setup-task.xml'),
    CONFIGURATION: join(root, 'scripts/package/files/setup-micwatch.yaml'),
    OUTPUT: output,
    COMPRESSOR: isFast ? 'zlib' : '/SOLID lzma',
  }
  const script = join(root, 'scripts/package/files/setup.nsi')
  const args = Object.entries(defines).map(([name, value]) => `-D${name}=${value}`)
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(source.date.getTime() / 1000) }
  execFileSync('makensis', ['-V2', ...args, script], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  return readFileSync(output)
}

/** Returns the commands that install a folder. Those of NSIS itself depend on the order in the file system. */
function listInstallation(folder: string, into = '$INSTDIR'): string {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => `File "${join(folder, name)}"\n`)
  const folders = entries.filter((entry) => entry.isDirectory())
  return [
    `SetOutPath "${into}"\n`,
    ...files,
    ...folders.map(({ name }) => listInstallation(join(folder, name), `${into}\\${name}`)),
  ].join('')
}
