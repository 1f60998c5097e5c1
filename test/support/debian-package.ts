/** Installs Debian packages that tests and checks need, on Debian as root; elsewhere an error names the missing package. */

import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

/** Installs `name` unless it is installed already. Throws an error that names the package if that is impossible. */
export async function installDebianPackage(name: string): Promise<void> {
  const install = `dpkg -s ${name} >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq ${name}; }`
  // Test files run in several processes, and apt-get does not wait for another apt-get.
  const lock = join(tmpdir(), 'micwatch-chromium.lock')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await promisify(execFile)('flock', [lock, 'sh', '-c', install], { env }).catch((cause) => {
    throw new Error(`The package ${name} is needed, and \`apt-get install ${name}\` failed. Install it.`, {
      cause,
    })
  })
}

/** Returns the path of a program. If it is not found, its Debian package is installed, and then `afterInstall` is called. */
export async function findProgram(
  name: string,
  debianPackage: string,
  afterInstall: () => Promise<unknown> = async () => {},
): Promise<string> {
  const found = await findInstalled(name)
  if (found !== undefined) return found
  if (process.getuid?.() === 0) {
    await installDebianPackage(debianPackage)
    await afterInstall()
    const installed = await findInstalled(name)
    if (installed !== undefined) return installed
  }
  throw new Error(`${name} is needed: install ${debianPackage}, so that it is found on the PATH.`)
}

async function findInstalled(name: string): Promise<string | undefined> {
  for (const folder of [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']) {
    const path = join(folder, name)
    const exists = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (exists) return path
  }
  return undefined
}
