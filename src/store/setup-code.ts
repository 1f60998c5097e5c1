/** The set-up code where only whoever runs the service can read it. */

import { rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { makeFolder } from './folder.ts'

/** Says where it lies. */
export async function writeSetupCode(dataDir: string, code: string): Promise<string> {
  await makeFolder(resolve(dataDir))
  await removeSetupCode(dataDir)
  const path = pathOf(dataDir)
  await writeFile(path, `${code}\n`, { mode: 0o600, flag: 'wx' })
  return path
}

export async function removeSetupCode(dataDir: string): Promise<void> {
  await rm(pathOf(dataDir), { force: true })
}

function pathOf(dataDir: string): string {
  return join(dataDir, 'setup-code')
}
