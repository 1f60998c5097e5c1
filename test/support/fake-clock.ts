/** Sets the wall clock of a real process with libfaketime, which is installed on demand on Debian. */

import { access, constants, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { installDebianPackage } from './debian-package.ts'

export interface FakeClock {
  /** Environment variables for the process that uses this clock. */
  readonly env: Readonly<Record<string, string>>
  /** Sets the clock ahead by this many seconds, for example `+3600`. */
  set(offset: string): Promise<void>
}

export async function startFakeClock({ path }: { readonly path: string }): Promise<FakeClock> {
  const library = await findLibrary()
  const file = join(path, 'faketime')
  await writeFile(file, '+0\n')
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      // Only the wall clock is set; the monotonic clock is unchanged, as when the clock of a real system is set.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    set: (offset) => writeFile(file, `${offset}\n`),
  }
}

async function findLibrary(): Promise<string> {
  const found = (await findInstalled()) ?? (await installOnDebian())
  if (found !== undefined) return found
  throw new Error('libfaketime is needed here: install the package faketime.')
}

const folders = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/lib']

async function findInstalled(): Promise<string | undefined> {
  for (const path of folders.map((folder) => join(folder, 'faketime/libfaketime.so.1'))) {
    const exists = await access(path, constants.R_OK).then(
      () => true,
      () => false,
    )
    if (exists) return path
  }
  return undefined
}

async function installOnDebian(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return undefined
  console.error('libfaketime is needed here, and is missing: installing the Debian package faketime.')
  await installDebianPackage('faketime')
  return findInstalled()
}
