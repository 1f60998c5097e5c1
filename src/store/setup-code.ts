/** The set-up code where only whoever runs the service can read it. */

import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createPrivateFile, makeFolder } from './folder.ts'

/** Says where it lies. */
export async function writeSetupCode(dataDir: string, code: string): Promise<string> {
  await makeFolder(resolve(dataDir))
  await removeSetupCode(dataDir)
  const path = pathOf(dataDir)
  const file = await createPrivateFile(path)
  await file.writeFile(`${code}\n`).finally(() => file.close())
  return path
}

export async function removeSetupCode(dataDir: string): Promise<void> {
  await rm(pathOf(dataDir), { force: true })
}

function pathOf(dataDir: string): string {
  return join(dataDir, 'setup-code')
}
