/** Installs Debian packages that tests need, on Debian as root; elsewhere an error names the missing package. */

import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Installs `name` unless it is installed already. Throws an error that names the package if that is impossible. */
export async function installDebianPackage(name: string): Promise<void> {
  const install = `dpkg -s ${name} >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq ${name}; }`
  // Test files run in several processes, and apt-get does not wait for another apt-get.
  const lock = join(tmpdir(), 'micwatch-chromium.lock')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await promisify(execFile)('flock', [lock, 'sh', '-c', install], { env }).catch((cause) => {
    throw new Error(`The tests need the program ${name}, and \`apt-get install ${name}\` failed. Install it.`, {
      cause,
    })
  })
}
