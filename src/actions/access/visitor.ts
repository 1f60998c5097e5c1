/** The visitor of a demo: a user who is signed in without a password, on the machine that runs the demo. */

import { randomUUID } from 'node:crypto'
import { now } from '../../platform/clock.ts'
import { writeAudit } from '../../storage/audit.ts'
import { changePeople, findUserByName, insertUser } from '../../storage/people.ts'
import type { Access } from './access.ts'
import { openSession, type Requester, type SignedIn, signedIn } from './sign-in.ts'

const username = 'demo'

/** Creates the user, with a password that nobody knows. */
export async function createVisitor({ db, hasher }: Access): Promise<void> {
  const password = await hasher.hash(randomUUID(), 'demo')
  await db.transaction(async (tx) => {
    await changePeople(tx)
    await insertUser(tx, { username, role: 'operator', permissions: ['listen'], password, now: now() })
  })
}

/** Returns null if an administrator has removed or disabled the user. */
export async function signVisitorIn({ db }: Access, requester: Requester): Promise<SignedIn | null> {
  return db.transaction(async (tx) => {
    await changePeople(tx)
    const user = await findUserByName(tx.query, username)
    if (user === null || !user.is_active) return null
    const actor = signedIn(requester, user)
    await writeAudit(tx, { actor, action: 'session.login', target: `user ${username}`, result: 'ok' })
    return openSession(tx, requester, user)
  })
}
