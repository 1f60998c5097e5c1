/** The scripts that start the program from an unpacked archive. */

import { chmodSync, cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const files = fileURLToPath(new URL('./files', import.meta.url))

export function addLaunchers(folder: string, isWindows: boolean): void {
  cpSync(join(files, 'launch.js'), join(folder, 'launch.js'))
  const launchers = isWindows
    ? [
        ['micwatch.cmd', 'micwatch.cmd'],
        ['start.cmd', 'Start Micwatch.cmd'],
      ]
    : [
        ['micwatch.sh', 'micwatch'],
        ['start.sh', 'start-micwatch'],
      ]
  for (const [from = '', to = ''] of launchers) {
    const text = readFileSync(join(files, from), 'utf8').replaceAll('\r', '')
    writeFileSync(join(folder, to), isWindows ? text.replaceAll('\n', '\r\n') : text)
    chmodSync(join(folder, to), 0o755)
  }
}
