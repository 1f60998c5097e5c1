/** Credentials for tests of other features. */

import { createToken, type PeopleDeps } from '../../src/actions/access/people.ts'
import type { Role } from '../../src/contract/values.ts'
import type { Actor } from '../../src/domain/access/access.ts'
import type { Runtime } from '../../src/service.ts'

const actor: Actor = { kind: 'cli', id: null, name: 'test', role: 'admin', address: null }

/** Returns headers with an API token of this role. */
export async function tokenHeaders({ db }: Pick<Runtime, 'db'>, role: Role): Promise<Record<string, string>> {
  const deps = { db, now: Date.now } as unknown as PeopleDeps
  const { text } = await createToken(deps, actor, { name: `a test's ${role}`, role })
  return { authorization: `Bearer ${text}` }
}
