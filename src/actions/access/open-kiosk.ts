/** Signs an unattended screen in with a read-only token. */

import type { ApiToken } from '../../domain/access/people.ts'
import { RequestError } from '../../domain/errors.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Database } from '../../storage/database.ts'
import { findTokensByHash } from '../../storage/people.ts'
import { hashOf } from './credentials.ts'

/** Returns the API token whose secret is `text`. The cookie of the kiosk screen expires with that token. */
export async function openKiosk(
  { db, now }: { readonly db: Database; now(): number },
  { address }: { readonly address: string },
  text: string,
): Promise<ApiToken> {
  const [token] = await findTokensByHash(db.read, [hashOf(text)])
  if (token === undefined || (token.expires_at !== null && token.expires_at <= now()))
    throw new RequestError('wrong_token')
  const { id, name, role } = token
  if (role !== 'viewer') throw new RequestError('not_a_viewer')
  const actor = { kind: 'token', id, name, role, address } as const
  await db.transaction((tx) =>
    writeAudit(tx, { actor, action: 'session.kiosk', target: `token ${id} ${name}`, result: 'ok' }),
  )
  return token
}
