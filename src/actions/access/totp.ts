/**
 * Codes of authenticator apps (TOTP, RFC 6238) as a second factor of local users. Each code is accepted once. Recovery
 * codes replace a lost app.
 */

import { randomInt } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import type { Actor } from '../../domain/access/access.ts'
import { codeLetters, normalizeCode } from '../../domain/access/codes.ts'
import type { User } from '../../domain/access/people.ts'
import { RequestError } from '../../domain/errors.ts'
import { now } from '../../platform/clock.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Tx } from '../../storage/database.ts'
import { changePeople, findUser, readTotp, saveTotp } from '../../storage/people.ts'
import type { Secrets } from '../../storage/secrets.ts'
import type { Access } from './access.ts'
import { hashOf } from './credentials.ts'

const periodSeconds = 30
/** The size of a SHA-1 hash, as RFC 4226 recommends. */
const secretBytes = 20
const recoveryCodes = 10
const recoveryCodeLetters = 16

/** Returns a secret that takes effect when `confirmTotp` receives a code made with it. */
export async function setUpTotp(
  access: Access,
  actor: Actor,
  host: string,
): Promise<{ readonly secret: string; readonly otpauth_url: string }> {
  const secret = new Secret({ size: secretBytes })
  const user = await changeOwnTotp(access, actor, async (tx, { id, has_totp }) => {
    if (has_totp) throw new RequestError('wrong_state', { subject: 'Remove the authenticator app in use first.' })
    await saveTotp(tx, id, { secret: access.secrets.seal(secret.base32, contextOf(id)), step: null })
  })
  const otpauth_url = createTotp(secret, { issuer: `Micwatch ${host}`, label: user.username }).toString()
  return { secret: secret.base32, otpauth_url }
}

/** Requires a code at every sign-in from now on. Returns the recovery codes, which are stored as hashes. */
export async function confirmTotp(access: Access, actor: Actor, code: string): Promise<readonly string[]> {
  const codes = Array.from({ length: recoveryCodes }, createRecoveryCode)
  await changeOwnTotp(access, actor, async (tx, { id, has_totp }) => {
    const { secret } = await readTotp(tx.query, id)
    if (has_totp || secret === null) {
      throw new RequestError('wrong_state', { subject: 'No authenticator app is waiting to be confirmed.' })
    }
    const step = findStep(access.secrets.tryOpen(secret, contextOf(id)), code)
    if (step === null) throw new RequestError('bad_request', { details: 'code: wrong or expired; check the clocks' })
    await saveTotp(tx, id, { has_totp: true, step, recovery_codes: codes.map((text) => hashOf(normalizeCode(text))) })
    await auditTotp(tx, actor, actor.name, 'added')
  })
  return codes
}

/** Removes the app of a user. */
export async function removeTotp({ db, credentials }: Access, actor: Actor, id: number): Promise<void> {
  await db.transaction(async (tx) => {
    await changePeople(tx)
    const user = await findUser(tx.query, id)
    if (user === null) throw new RequestError('not_found', { subject: `user ${id}` })
    await saveTotp(tx, id, { has_totp: false, secret: null, step: null, recovery_codes: [] })
    await auditTotp(tx, actor, user.username, 'removed')
    tx.afterCommit(() => credentials.update({ ...user, has_totp: false }))
  })
}

/** Uses up a code from the authenticator app or a recovery code. Returns false if it is not valid. */
export async function redeemCode(tx: Tx, secrets: Secrets, user: number, code: string): Promise<boolean> {
  const { secret, step: lastStep, recovery_codes } = await readTotp(tx.query, user)
  const hash = hashOf(normalizeCode(code))
  if (recovery_codes.includes(hash)) {
    await saveTotp(tx, user, { recovery_codes: recovery_codes.filter((known) => known !== hash) })
    return true
  }
  const step = findStep(secret === null ? null : secrets.tryOpen(secret, contextOf(user)), code)
  if (step === null || (lastStep !== null && step <= lastStep)) return false
  await saveTotp(tx, user, { step })
  return true
}

/** Throws unless a local user is signed in. The sessions of the user follow the change. */
async function changeOwnTotp(
  { db, credentials }: Access,
  actor: Actor,
  work: (tx: Tx, user: User) => Promise<void>,
): Promise<User> {
  return db.transaction(async (tx) => {
    await changePeople(tx)
    const user = actor.kind === 'user' && actor.id !== null ? await findUser(tx.query, actor.id) : null
    if (user === null || user.issuer !== null) throw new RequestError('not_a_user')
    await work(tx, user)
    const changed = (await findUser(tx.query, user.id)) ?? user
    tx.afterCommit(() => credentials.update(changed))
    return changed
  })
}

function auditTotp(tx: Tx, actor: Actor, username: string, change: 'added' | 'removed'): Promise<void> {
  return writeAudit(tx, { actor, action: 'user.totp', target: `user ${username}`, result: 'ok', details: { change } })
}

function createTotp(secret: Secret, names: { readonly issuer?: string; readonly label?: string } = {}): TOTP {
  return new TOTP({ ...names, secret, algorithm: 'SHA1', digits: 6, period: periodSeconds })
}

/**
 * Returns the time step of a code of the previous, current or next 30 seconds; null if the code is wrong. Without a
 * secret, which cannot be opened after a restore without the key, every code is wrong.
 */
function findStep(base32: string | null, code: string): number | null {
  if (base32 === null) return null
  const token = code.replace(/[\s-]/g, '')
  const timestamp = now()
  const delta = createTotp(Secret.fromBase32(base32)).validate({ token, timestamp, window: 1 })
  return delta === null ? null : Math.floor(timestamp / 1000 / periodSeconds) + delta
}

function createRecoveryCode(): string {
  const letters = Array.from({ length: recoveryCodeLetters }, () => codeLetters[randomInt(codeLetters.length)])
  return letters.join('').replace(/(.{4})(?=.)/g, '$1-')
}

/** Ties a sealed secret to its user. */
function contextOf(user: number): string {
  return `totp of user ${user}`
}
