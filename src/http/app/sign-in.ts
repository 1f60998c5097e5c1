/** The parts that users sign in with, and the code with which the first administrator is created. */

import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { Credentials } from '../../actions/access/credentials.ts'
import { createHasher, type Hasher } from '../../actions/access/hasher.ts'
import { createSetupCode, isSetupNeeded, type SetupCode } from '../../actions/access/sign-in.ts'
import type { Config } from '../../config.ts'
import { isLoopback } from '../../domain/identity/address.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { createFolder, createPrivateFile } from '../../storage/folder.ts'

export interface SetupOptions {
  /** The shell command that creates an administrator of this installation. */
  readonly createAdmin?: string
  /** Prints to the terminal only, because the set-up code must not be logged. */
  print?(line: string): void
}

export interface SignIn {
  readonly credentials: Credentials
  readonly hasher: Hasher
  readonly setupCode: SetupCode
  onSetUp(): void
  /** Prints how to create the first administrator, if none exists and the service is reachable from the network. */
  openSetup(config: Config, options: SetupOptions): Promise<void>
  close(): Promise<void>
}

export function createSignIn({ db }: Service, log: FastifyBaseLogger): SignIn {
  const hasher = createHasher()
  const setupCode = createSetupCode(() => performance.now())
  let removeCode = async () => {}
  const removeCodeFile = () =>
    removeCode().catch((error) => log.error({ error: String(error) }, 'the set-up code file could not be removed'))
  return {
    credentials: new Credentials({ db, log, now }),
    hasher,
    setupCode,
    onSetUp: () => void removeCodeFile(),
    async openSetup({ server: { host }, require_login, data_dir }, { print, createAdmin }) {
      if ((isLoopback(host) && !require_login) || !(await isSetupNeeded({ db }))) return
      const path = await writeSetupCode(data_dir, setupCode.current() ?? '').catch((error) => {
        log.warn({ error: String(error) }, 'the set-up code could not be written to a file')
        return null
      })
      removeCode = () => removeSetupCode(data_dir)
      const code = setupCode.current()
      print?.(`There is no administrator yet. Open the set-up page within 60 minutes and enter the code ${code}`)
      if (path !== null) print?.(`The code is also in the file ${path}`)
      if (createAdmin !== undefined) print?.(`Alternatively, run: ${createAdmin}`)
    },
    async close() {
      await hasher.close()
      await removeCodeFile()
    },
  }
}

/** Writes the set-up code to a file that only the user of the service can read, and returns its path. */
async function writeSetupCode(dataDir: string, code: string): Promise<string> {
  await createFolder(resolve(dataDir))
  await removeSetupCode(dataDir)
  const path = setupCodePath(dataDir)
  const file = await createPrivateFile(path)
  await file.writeFile(`${code}\n`).finally(() => file.close())
  return path
}

async function removeSetupCode(dataDir: string): Promise<void> {
  await rm(setupCodePath(dataDir), { force: true })
}

function setupCodePath(dataDir: string): string {
  return join(dataDir, 'setup-code')
}
