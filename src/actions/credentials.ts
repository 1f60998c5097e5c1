/**
 * Finds the session or token of a request. Credentials are cached in memory, so that a request needs no database query
 * and users stay signed in while the database is unreachable. A credential that this or another process revokes stops
 * working within one second.
 */

import { createHash, randomBytes } from 'node:crypto'
import type { Role } from '../contract/values.ts'
import { loginLimits } from '../domain/access/login-limits.ts'
import { type ApiToken, sessionEnd, sessionLimits, type User } from '../domain/access/people.ts'
import type { Log } from '../monitoring/log.ts'
import { pause } from '../monitoring/wait.ts'
import { pruneAudit } from '../storage/audit.ts'
import type { Database } from '../storage/database.ts'
import {
  deleteOldFailedLogins,
  deleteOldSessions,
  findSessions,
  findTokensByHash,
  peopleRevision,
  touchSessions,
  touchToken,
} from '../storage/people.ts'

export interface Credential {
  readonly hash: string
  readonly kind: 'user' | 'token'
  /** The id of the user or token. */
  readonly id: number
  readonly name: string
  readonly role: Role
  readonly user: User | null
  /** The CSRF token that every write in a session must contain; null if the credential is an API token. */
  readonly csrfToken: string | null
  /**
   * Registers a holder, which is notified when the credential is about to expire, and when it has expired or was
   * revoked. The returned function removes the holder.
   */
  hold(holder: CredentialHolder): () => void
}

export interface CredentialHolder {
  warn(endsAt: number): void
  end(): void
}

export interface Credentials {
  /**
   * Looks up the credential for a session id or token sent by a client; null if it is unknown or no longer valid.
   * Database errors are rethrown.
   */
  find(presented: string, address: string): Credential | null | Promise<Credential | null>
  /** Drops the matching credentials immediately. Used when this process has just revoked them. */
  end(which: { readonly user: number } | { readonly token: number } | { readonly hash: string }): void
  /** Drops credentials that other processes revoked, and deletes expired records, until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>
}

interface Entry extends Credential {
  usedAt: number
  /** `usedAt` on the monotonic clock, so that no session is treated as idle because the wall clock jumped. */
  usedAtElapsed: number
  address: string
  endsAt: number
  /** Holders that were warned that the credential expires soon. */
  readonly warned: WeakSet<CredentialHolder>
  isTouched: boolean
  isEnded: boolean
  readonly holders: Set<CredentialHolder>
}

const checkEveryMs = 500
/** How long cached credentials are accepted while the database does not respond. */
const maxCacheAgeMs = 5 * 60_000
const touchEveryMs = 60_000
const cleanUpEveryMs = 3_600_000

const tokenPattern = /^micwatch_(\d{1,15})_[A-Za-z0-9_-]{43}$/
const sessionPattern = /^[A-Za-z0-9_-]{43}$/

export function createCredentials(deps: {
  readonly db: Database
  readonly log: Log
  /** Returns the time of the wall clock in epoch milliseconds. */
  now(): number
  /** Returns the time of the monotonic clock in milliseconds, for state that only this process uses. */
  elapsed?(): number
}): Credentials {
  const { db, log, now, elapsed = () => performance.now() } = deps
  const entries = new Map<string, Entry>()
  let revision = -1
  let checkedAt = elapsed()
  /** Incremented whenever credentials may have been revoked. If it changes during a query, the query is repeated. */
  let endCount = 0
  let touchedAt = elapsed()
  let cleanedUpAt = Number.NEGATIVE_INFINITY

  function drop(entry: Entry): void {
    entries.delete(entry.hash)
    entry.isEnded = true
    for (const holder of [...entry.holders]) holder.end()
  }

  async function search(presented: string, address: string): Promise<Credential | null> {
    const hash = hashOf(presented)
    for (;;) {
      const countBefore = endCount
      const found = tokenPattern.test(presented)
        ? fromToken((await findTokensByHash(db.read, [hash]))[0])
        : fromSession((await findSessions(db.read, [hash]))[0], presented)
      if (endCount !== countBefore) continue
      const known = entries.get(hash)
      if (found === null || found.endsAt <= now()) {
        if (known !== undefined) drop(known)
        return null
      }
      if (known === undefined) entries.set(hash, found)
      return use(known ?? found, address)
    }
  }

  function use(entry: Entry, address: string): Entry {
    entry.usedAt = now()
    entry.usedAtElapsed = elapsed()
    entry.address = address
    entry.isTouched = true
    return entry
  }

  /** Reads every cached credential from the database again. */
  async function recheck(): Promise<void> {
    const all = [...entries.values()]
    for (let start = 0; start < all.length; start += 100) {
      const batch = all.slice(start, start + 100)
      const hashes = batch.map(({ hash }) => hash)
      const stored = new Map<string, { role: Role; endsAt: number }>()
      for (const { hash, user, expires_at } of await findSessions(db.read, hashes)) {
        stored.set(hash, { role: user.role, endsAt: expires_at })
      }
      for (const { hash, role, expires_at } of await findTokensByHash(db.read, hashes)) {
        stored.set(hash, { role, endsAt: expires_at ?? Number.POSITIVE_INFINITY })
      }
      for (const entry of batch) {
        const current = stored.get(entry.hash)
        if (current === undefined || current.role !== entry.role) drop(entry)
        else if (entry.kind === 'token') entry.endsAt = current.endsAt
      }
    }
  }

  async function checkAll(): Promise<void> {
    const currentRevision = await peopleRevision(db.read)
    if (currentRevision !== revision) {
      endCount += 1
      await recheck()
      revision = currentRevision
    }
    checkedAt = elapsed()
    for (const entry of entries.values()) {
      // An open real-time connection is treated as use.
      if (entry.holders.size > 0) use(entry, entry.address)
      const remainingMs = remainingTime(entry)
      if (remainingMs <= 0) drop(entry)
      else if (remainingMs <= sessionLimits.warnMs) {
        for (const holder of entry.holders) {
          if (!entry.warned.has(holder)) holder.warn(now() + remainingMs)
          entry.warned.add(holder)
        }
      }
    }
  }

  function remainingTime({ kind, endsAt, usedAtElapsed }: Entry): number {
    const totalMs = endsAt - now()
    return kind === 'user' ? Math.min(totalMs, usedAtElapsed + sessionLimits.idleMs - elapsed()) : totalMs
  }

  async function touch(): Promise<void> {
    const used = [...entries.values()].filter((entry) => entry.isTouched)
    if (used.length === 0) return
    await db.transaction(async (tx) => {
      const sessions = used.filter(({ kind }) => kind === 'user')
      for (let start = 0; start < sessions.length; start += 100) {
        const batch = sessions.slice(start, start + 100).map(({ hash }) => hash)
        await touchSessions(tx, batch, now())
      }
      for (const { kind, hash, usedAt, address } of used) {
        if (kind === 'token') await touchToken(tx, hash, { at: usedAt, address })
      }
    })
    for (const entry of used) entry.isTouched = false
  }

  async function cleanUp(): Promise<void> {
    await db.transaction(async (tx) => {
      await deleteOldSessions(tx, now())
      await deleteOldFailedLogins(tx, now() - loginLimits.windowMs)
      await pruneAudit(tx, now())
    })
  }

  return {
    find(presented, address) {
      if (!tokenPattern.test(presented) && !sessionPattern.test(presented)) return null
      const known = entries.get(hashOf(presented))
      const isFresh = known !== undefined && elapsed() - checkedAt < maxCacheAgeMs
      if (isFresh && remainingTime(known) > 0) return use(known, address)
      return search(presented, address)
    },
    end(which) {
      endCount += 1
      for (const entry of [...entries.values()]) {
        const isMatch =
          'hash' in which
            ? entry.hash === which.hash
            : 'user' in which
              ? entry.kind === 'user' && entry.id === which.user
              : entry.kind === 'token' && entry.id === which.token
        if (isMatch) drop(entry)
      }
    },
    async watch(signal) {
      let isDown = false
      while (await pause(checkEveryMs, signal)) {
        try {
          await checkAll()
          if (elapsed() - touchedAt >= touchEveryMs) {
            touchedAt = elapsed()
            await touch()
          }
          if (elapsed() - cleanedUpAt >= cleanUpEveryMs) {
            cleanedUpAt = elapsed()
            await cleanUp()
          }
          isDown = false
        } catch (error) {
          if (!isDown) log.error({ error: String(error) }, 'cannot check sessions and tokens')
          isDown = true
        }
      }
      await touch().catch(() => {})
    },
  }

  function fromSession(stored: Awaited<ReturnType<typeof findSessions>>[number] | undefined, presented: string) {
    if (stored === undefined || sessionEnd(stored) <= now()) return null
    const { hash, user, expires_at } = stored
    const credential = { kind: 'user', id: user.id, name: user.username, role: user.role, user } as const
    return createEntry({ hash, ...credential, csrfToken: csrfTokenOf(presented) }, expires_at)
  }

  function fromToken(stored: (ApiToken & { readonly hash: string }) | undefined) {
    if (stored === undefined) return null
    const { hash, id, name, role, expires_at } = stored
    const credential = { kind: 'token', id, name, role, user: null, csrfToken: null } as const
    return createEntry({ hash, ...credential }, expires_at ?? Number.POSITIVE_INFINITY)
  }

  function createEntry(credential: Omit<Credential, 'hold'>, endsAt: number): Entry {
    const holders = new Set<CredentialHolder>()
    const entry: Entry = {
      ...credential,
      usedAt: now(),
      usedAtElapsed: elapsed(),
      address: '',
      endsAt,
      warned: new WeakSet(),
      isTouched: false,
      isEnded: false,
      holders,
      hold(holder) {
        // The credential may have been dropped while the connection was being opened.
        if (entry.isEnded) holder.end()
        else holders.add(holder)
        return () => void holders.delete(holder)
      },
    }
    return entry
  }
}

/**
 * Returns the form in which a secret is stored. A fast hash is sufficient, because a secret of 256 random bits cannot
 * be guessed.
 */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

export function createSecret(): string {
  return randomBytes(32).toString('base64url')
}

export function tokenText(id: number, secret: string): string {
  return `micwatch_${id}_${secret}`
}

/** Derives the CSRF token from the session's secret, so that it does not have to be stored. */
export function csrfTokenOf(session: string): string {
  return createHash('sha256').update(`csrf ${session}`).digest('base64url')
}
