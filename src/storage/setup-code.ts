/** Stores the set-up code in a file that only the user of the service can read. */

import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createFolder, createPrivateFile } from './folder.ts'

/** Writes the set-up code and returns the path of the file. */
export async function writeSetupCode(dataDir: string, code: string): Promise<string> {
  await createFolder(resolve(dataDir))
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
