/** Credentials for tests of other features. */

import { createToken } from '../../src/actions/access/people.ts'
import type { GrantedPermission, Role } from '../../src/contract/values.ts'
import type { Actor } from '../../src/domain/access/access.ts'
import { withDatabase } from './store/databases.ts'

const actor: Actor = { kind: 'cli', id: null, name: 'test', role: 'admin', address: null }

/** Returns headers with an API token of this role. The service may run in this process or in another. */
export async function tokenHeaders(
  app: { databaseUrl: string },
  role: Role,
  permissions: readonly GrantedPermission[] = [],
): Promise<Record<string, string>> {
  const token = { name: `a test's ${role}`, role, permissions }
  const { text } = await withDatabase(app, (db) => createToken(db, actor, token))
  return { authorization: `Bearer ${text}` }
}
