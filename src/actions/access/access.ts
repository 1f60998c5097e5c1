/** Sign-in: passwords, single sign-on, and the code that creates the first administrator. */

import { randomInt } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Role } from '../../contract/values.ts'
import { codeLetters } from '../../domain/access/codes.ts'
import type { ProviderIdentity, RoleMapping } from '../../domain/access/oidc.ts'
import type { User } from '../../domain/access/people.ts'
import type { Log } from '../../platform/log.ts'
import type { Database } from '../../storage/database.ts'
import { createFolder, createPrivateFile } from '../../storage/folder.ts'
import { countAdmins } from '../../storage/people.ts'
import type { Secrets } from '../../storage/secrets.ts'
import { Credentials } from './credentials.ts'
import { createHasher, type Hasher } from './hasher.ts'

/** The secrets of one sign-in. The provider returns the state and the nonce, and verifies the verifier. */
export interface OidcChecks {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** The connection to the provider. All methods throw an `OidcError`. */
interface IdentityProvider {
  readonly issuer: string
  authorizationUrl(redirectUri: string, checks: OidcChecks): Promise<URL>
  identify(callback: URL, checks: OidcChecks): Promise<ProviderIdentity>
}

/** Null if no provider is configured. */
export type SingleSignOn = {
  readonly provider: IdentityProvider
  readonly label: string
  readonly role_claim: string
  readonly roles: RoleMapping
} | null

export interface SetupOptions {
  /** The shell command that creates an administrator of this installation. */
  readonly createAdmin?: string
  /** Prints to the terminal only, because the set-up code must not be logged. */
  print?(line: string): void
}

interface AccessOptions {
  readonly db: Database
  readonly log: Log
  readonly secrets: Secrets
  readonly singleSignOn?: SingleSignOn
  readonly hasher?: Hasher
  readonly rolesWithTotp?: readonly Role[]
}

export class Access {
  readonly db: Database
  readonly log: Log
  readonly secrets: Secrets
  readonly hasher: Hasher
  readonly credentials: Credentials
  readonly singleSignOn: SingleSignOn
  readonly setupCode = new SetupCode()
  /** The folder with the file of the set-up code; null if the code is in no file. */
  #codeFolder: string | null = null

  /** Users with these roles must set up an authenticator app before anything else. */
  rolesWithTotp: readonly Role[]

  constructor({ db, log, secrets, singleSignOn = null, hasher = createHasher(), rolesWithTotp = [] }: AccessOptions) {
    this.db = db
    this.log = log
    this.secrets = secrets
    this.singleSignOn = singleSignOn
    this.hasher = hasher
    this.credentials = new Credentials(db, log)
    this.rolesWithTotp = rolesWithTotp
  }

  /** True if the user must set up an authenticator app. Users of a provider have its second factor. */
  needsTotp(user: User | null): boolean {
    return user !== null && user.issuer === null && !user.has_totp && this.rolesWithTotp.includes(user.role)
  }

  async isSetupNeeded(): Promise<boolean> {
    return (await countAdmins(this.db.read)) === 0
  }

  /** Prints how to create the first administrator, unless one exists. */
  async openSetup(dataDir: string, { print, createAdmin }: SetupOptions): Promise<void> {
    if (!(await this.isSetupNeeded())) return
    const code = this.setupCode.current()
    const path = await writeSetupCode(dataDir, code ?? '').catch((error) => {
      this.log.warn({ error: String(error) }, 'the set-up code could not be written to a file')
      return null
    })
    this.#codeFolder = dataDir
    print?.(`There is no administrator yet. Open the set-up page within 60 minutes and enter the code ${code}`)
    if (path !== null) print?.(`The code is also in the file ${path}`)
    if (createAdmin !== undefined) print?.(`Alternatively, run: ${createAdmin}`)
  }

  /** Must be called after the first administrator was created. */
  endSetup(): void {
    this.setupCode.use()
    void this.#removeCodeFile()
  }

  async close(): Promise<void> {
    await this.hasher.close()
    await this.#removeCodeFile()
  }

  async #removeCodeFile(): Promise<void> {
    if (this.#codeFolder === null) return
    await removeSetupCode(this.#codeFolder).catch((error) =>
      this.log.error({ error: String(error) }, 'the set-up code file could not be removed'),
    )
  }
}

const setupMs = 60 * 60_000

class SetupCode {
  readonly #madeAt = performance.now()
  #code: string | null = Array.from({ length: 20 }, () => codeLetters[randomInt(codeLetters.length)]).join('')

  /** Returns null after the code was used or has expired. */
  current(): string | null {
    return performance.now() - this.#madeAt < setupMs ? this.#code : null
  }

  use(): void {
    this.#code = null
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
